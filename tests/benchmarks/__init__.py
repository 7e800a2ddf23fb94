"""Benchmarks of the project's goals of speed: `just bench NAME` (a module here). They are measured, not tested."""
