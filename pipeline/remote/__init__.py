"""A server for what a laptop is too small for, and workers on other machines.

    cli                   the commands: setup, push, run, status, logs, pull, merge
    host                  a machine behind OpenSSH: commands and rsync
    prepare               what a server needs, found and set up by `prepare.sh`, twice as well as once
    push, pull            the project, clones and data go there; what was made there comes back
    areas                 which files of a data directory travel
    jobs                  recipes that run there on their own (`job.sh`), their state and their logs
    merge, forms, sides   another data directory's files into this one: planned first, then written
    units                 folders of finished units and how they are compared

Nothing is overwritten that only one side has: what both sides changed is an error that names it, before anything is
written. How it works is told in docs/remote.md.
"""
