"""A server for work that is too large for a laptop, and its data.

    cli                   the commands: setup, push, run, status, logs, pull, merge
    host                  a machine behind OpenSSH: commands and rsync
    prepare               what a server needs, checked and set up by `prepare.sh`, repeatably
    push, pull            sending project, clones and data; fetching results
    areas                 which files of a data directory are transferred
    jobs                  recipes that run there independently (`job.sh`), their state and logs
    merge, forms, sides   merging another data directory's files: planned first, then written
    units                 folders of finished units and how they are compared

Data that only one side has are never overwritten. What both sides changed is an error that names it, before anything
is written. See docs/remote.md.
"""
