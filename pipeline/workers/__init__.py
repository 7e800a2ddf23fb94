"""Units on other machines: the two commands that a coordinator (`--engine dask`) needs.

    scheduler     the meeting point of coordinators and workers
    worker        performs units on the machine that it runs on
    serving       what both share as programs

`core.cluster` is the coordinator's side and `core.slot` the worker's. docs/remote.md says how to start them by hand,
over ssh, with Slurm and in Kubernetes.
"""
