"""Stage 02: make environments, qualify candidates by three runs, write instances.

Reads `01_raw/` and the clone it names; writes `02_dataset/`.
"""
