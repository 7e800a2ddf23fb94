"""Package managers, a folder each, found by its `manager.toml`."""
