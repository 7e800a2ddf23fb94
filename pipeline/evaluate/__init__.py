"""Stage 04: run predicted patches against the tests of their instances, and give verdicts.

Reads `02_dataset/`, `03_predictions/` and the clone that `01_raw/` names; writes `04_evaluation/`.
"""
