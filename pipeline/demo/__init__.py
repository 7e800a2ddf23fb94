"""The embedded benchmark: a small UI library of our own, its history made from the files in `data/demo/`."""
