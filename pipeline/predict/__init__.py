"""Stage 03: let an agent write patches for the instances of a dataset, through the LLM gateway.

Reads `02_dataset/` and the clone that `01_raw/` names; writes `03_predictions/`, the ledger and `costs.csv`.
"""
