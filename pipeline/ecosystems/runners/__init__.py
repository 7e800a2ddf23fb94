"""Test runners, a folder each, found by its `runner.toml`."""
