"""Converting a data directory of an older schema.

Reads and writes all of `data/`. What it replaces is archived first, and `schema.json` is written last, so that an
interrupted migration resumes. Predictions, verdicts, instances and ratings are converted. Test runs from before the
law existed stay as they are and are repeated when needed.

    cli, stage                the command, and the steps in order
    records                   from records of schema 1 to schema 2: pure functions
    reading                   lines and records of schema 1, as people may have left them
    answers                   new digests for paid answers (runs of agents, a judge's ratings)
"""
