"""The gateway: an address, keys that belong to the holders of an experiment, and the ledger of what they spend.

Two deployments give the same: `embedded`, a LiteLLM proxy as a child process, which is the default; and `deployed`, a
LiteLLM proxy with PostgreSQL that runs already (`docker/proxy`), where the environment names one. Any other address
that speaks OpenAI's protocol is an entry of the model list.
"""

from __future__ import annotations

import re
import secrets
import socket
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from urllib.parse import urlsplit

from pipeline.llm.experiment import Experiment
from pipeline.llm.ledger import LOST, Key, Ledger, key_hash
from pipeline.llm.models import Model, ModelList

#: ports of addresses that name none, and seconds for a connection
PORTS, PATIENCE = {"http": 80, "https": 443}, 5
#: why a key has no answer for want of money
BUDGET_EXCEEDED = "budget_exceeded"
#: how a last request ends at which its provider failed, or a gateway; any other end is the request's own (there was
#: none, it was answered, it is under way, it was too long for the model or nothing that the protocol knows)
_FAILED = re.compile(rf"{LOST}|40[123489]|425|429|5\d\d")


class Gateway(ABC):
    """An OpenAI-compatible address (`base_url` ends in /v1) and the keys to it. Threads may share it.

    `given` is the environment of the caller, in which the keys are that the deployment needs.
    """

    base_url: str

    def __init__(self, models: ModelList, ledger: Ledger, given: Mapping[str, str]) -> None:
        self.models, self.ledger, self.given = models, ledger, given
        self.id = secrets.token_hex(8)
        self._budgets: dict[str, Decimal | None] = {}

    def issue_key(
        self,
        experiment: Experiment,
        holder: str,
        budget_usd: Decimal | None = None,
        answer: str = "",
        cap_usd: Decimal | None = None,
    ) -> str:
        """A new key for an instance or `shared`. It opens the experiment's model and the embedding models.

        `answer` is the name of the answer that is asked for with it, `cap_usd` the most that this may cost, every try
        at it.

        `budget_usd` limits what the whole experiment spends, in earlier runs too, and each key says it anew; requests
        in flight can overshoot it.
        Raises UserError for an unknown model, or one whose environment variables are not set.
        """
        self.models.ready(experiment.model, self.given)
        if experiment.id not in self._budgets:  # a run that was killed could not say what it lost
            self.ledger.lose(experiment.id)
        self._budgets[experiment.id] = budget_usd
        key = self._new_key(experiment, holder, budget_usd)
        whose = (experiment.id, experiment.repo, experiment.model, experiment.label, experiment.settings)
        issued = Key(experiment.alias(holder), *whose, holder, budget_usd, experiment.track, answer, cap_usd)
        if cap_usd is not None:
            self._cap(key, max(Decimal(0), cap_usd - self.ledger.spent_on(answer)))
        self.ledger.issue(key_hash(key), issued)
        self.ledger.admit(key_hash(key), self.id)
        return key

    def _cap(self, key: str, left_usd: Decimal) -> None:  # noqa: B027 - only a deployment that asks no ledger needs it
        """Limit what one key may spend, where the deployment does not ask the ledger."""

    @abstractmethod
    def _new_key(self, experiment: Experiment, holder: str, budget_usd: Decimal | None) -> str:
        """A key that the deployment will know, once it is in the ledger."""

    def choices(self, model: Model) -> int:
        """How many answers one request to a model may ask for here."""
        return 1

    def exhausted(self, experiment: Experiment) -> bool:
        """Whether the experiment's budget is reached, by what is booked so far; what is lost counts at its worst."""
        budget = self._budgets.get(experiment.id)
        return budget is not None and self._booked(experiment) >= budget

    def _booked(self, experiment: Experiment) -> Decimal:
        return self.ledger.committed(experiment.id)

    def spend(self, experiment: Experiment) -> Decimal:
        """USD, exact, with every request that was answered before this call."""
        self.settle(experiment)
        return self.ledger.spend(experiment.id)

    def given_up(self, experiment: Experiment, key: str) -> str:
        """Why a key was left without an answer: the budget refused it one, or the provider failed at its last request.

        Empty in any other case: what the ledger does not know as a failure is none. A request that a provider refused
        for what was in it is no failure of the provider; a budget that is reached by a key's last answer has refused
        it nothing.
        """
        hashed = key_hash(key)
        if self.ledger.refused(hashed):
            return BUDGET_EXCEEDED
        status = self.ledger.last_status(hashed)
        return f"provider_{status}" if _FAILED.fullmatch(status) else ""

    def is_up(self) -> bool:
        """Whether somebody answers at its address."""
        parts = urlsplit(self.base_url)
        with suppress(OSError), socket.create_connection((parts.hostname, parts.port or PORTS[parts.scheme]), PATIENCE):
            return True
        return False

    @abstractmethod
    def settle(self, experiment: Experiment | None = None) -> None:
        """Wait until every answer that an experiment got, or any, is in the ledger: a proxy books after it answers."""
