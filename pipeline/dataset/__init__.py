"""What is done with built datasets: check, export, statistics, and the lists that are published and rebuilt from.

Stands on the stages, as `bench` does: a check runs stages 03 and 04, a rebuild 01 and 02.
"""
