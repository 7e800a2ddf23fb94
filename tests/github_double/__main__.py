"""`python -m github_double --pulls N`: one generated repository, acme/ui, served from a process of its own.

Prints the address and serves until its standard input ends.
"""

from __future__ import annotations

import argparse
import sys

from github_double import GitHubDouble, World


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a generated repository as GitHub would.")
    parser.add_argument("--pulls", type=int, default=1000, help="how many pull requests it has")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--evidence", type=float, default=0.025, help="share that speaks of accessibility")
    parser.add_argument("--limit", type=int, default=1_000_000, help="points for each token and hour")
    arguments = parser.parse_args()
    world = World()
    world.generate("acme/ui", arguments.pulls, arguments.seed, evidence=arguments.evidence)
    with GitHubDouble(world, limit=arguments.limit) as github:
        print(github.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
