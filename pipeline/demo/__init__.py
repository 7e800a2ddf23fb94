"""The embedded benchmark of `data/demo/`: its history, all stages on it, and the comparison with what is expected."""
