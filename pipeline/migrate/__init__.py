"""A data directory of an older schema, made one of this program's.

Reads and writes all of `data/`; what it replaces is archived first, and `schema.json` is written last, so that a
migration that was stopped goes on. Predictions, verdicts, instances and ratings are converted; what ran before there
was a law stays as it is, and is run again when it is asked for.

    cli, stage                the command, and the steps in their order
    records                   a record of schema 1 as one of schema 2: pure functions
    answers                   what was paid for (runs of agents, ratings of a judge), found under its new digests
"""
