"""What a cost belongs to: an experiment, track x repository x model x agent x settings. Keys belong to its holders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pipeline.core.names import Repo, parse_repo, variant
from pipeline.core.records import REPAIR, Track
from pipeline.core.store import digest

#: the holder of costs for several instances (indexing, embeddings); every other holder is an instance id
SHARED = "shared"


@dataclass(frozen=True)
class Experiment:
    """`repo` is `org/repo` (of pages, the case set), `model` a name of the model list, `settings` a digest of
    everything else that shapes an answer: the agent, its settings, the model's parameters. `name` is the settings' name
    for people: two names of the same settings are one experiment.
    """

    repo: str
    model: str
    agent: str
    settings: str = ""
    track: Track = REPAIR
    name: str = ""

    @property
    def label(self) -> str:
        """The agent as records and tables name it: `magentless`, or `magentless@greedy` with named settings."""
        return variant(self.agent, self.name)

    @property
    def repository(self) -> Repo:
        """Raises UserError for a case set."""
        return parse_repo(self.repo)

    @cached_property
    def id(self) -> str:
        """The digest of these fields. It has no track for repair, so costs from before there were tracks keep their
        experiment."""
        parts = (self.repo, self.model, self.agent, self.settings)
        return digest(*parts) if self.track == REPAIR else digest(self.track, *parts)

    def alias(self, holder: str) -> str:
        """The name of a holder's key, as people and logs see it."""
        return f"{self.agent}/{self.model}/{self.id[:8]}/{holder}"
