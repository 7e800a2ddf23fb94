"""A GitHub on loopback for tests: README.md says how to start it, what it answers and what it refuses."""

from github_double import faults
from github_double.server import GitHubDouble
from github_double.world import World

__all__ = ["GitHubDouble", "World", "faults"]
