"""Stage 00, between collecting and building: people's (and a model's) ratings of candidates, with WCAG metadata.

Reads `01_raw/<repo>/`; writes `00_viewer/<repo>.jsonl`. The web viewer is not part of it yet: ratings come from the
command line or from a file.

    cli, stage                the commands; ratings, read and added
"""
