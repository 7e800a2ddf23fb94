"""Units on other machines: the two commands that a coordinator (`--engine dask`) needs beside itself.

    scheduler     where coordinators and workers meet
    worker        performs units on the machine that it runs on

What they are for is in `core.cluster` (the coordinator's side) and `core.slot` (the worker's); docs/remote.md tells how
to start them by hand, over ssh, by Slurm and in Kubernetes.
"""
