"""Benchmarks for the project's performance goals: `just bench NAME` (a module here). They measure and do not test."""
