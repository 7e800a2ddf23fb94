"""Whose money it is: an experiment is repository x model x agent x settings, and keys belong to its holders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pipeline.core.store import digest

#: the holder of what serves several instances (indexing, embeddings); every other holder is an instance id
SHARED = "shared"


@dataclass(frozen=True)
class Experiment:
    """`repo` is `org/repo`, `model` a name of the model list, `settings_digest` a digest of all else that matters."""

    repo: str
    model: str
    agent: str
    settings_digest: str

    @cached_property
    def id(self) -> str:
        return digest(self.repo, self.model, self.agent, self.settings_digest)

    def alias(self, holder: str) -> str:
        """The name of a holder's key, as people and logs see it."""
        return f"{self.agent}/{self.model}/{self.id[:8]}/{holder}"
