"""The gateway: an address, keys that belong to the holders of an experiment, and the ledger of what they spend.

There are two equivalent deployments: `embedded`, a LiteLLM proxy as a child process, which is the default; and
`deployed`, a LiteLLM proxy with PostgreSQL that already runs (`docker/proxy`), if the environment names one. Any other
address that speaks OpenAI's protocol is an entry of the model list.
"""

from __future__ import annotations

import re
import secrets
import socket
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import filelock

from pipeline.core.cache import lock
from pipeline.llm.experiment import Experiment
from pipeline.llm.ledger import BUDGET_BUSY, LOST, Key, Ledger, key_hash
from pipeline.llm.models import Model, ModelList

#: default ports, and seconds for a connection
PORTS, PATIENCE = {"http": 80, "https": 443}, 5
#: statuses of a last request for which the provider or a gateway is to blame; it is not if there was no request, or it
#: was answered, is under way, was too long for the model, or broke the protocol
_FAILED = re.compile(rf"{LOST}|40[123489]|425|429|5\d\d")
#: the status of a request that the configuration is to blame for if the model has never answered, such as a parameter
#: that the provider refuses; otherwise, the agent made a bad request
_MISCONFIGURED = re.compile(r"400|405|415|422")
#: the statuses of a wrong key or name, or an unpaid bill, whatever was asked (429 is also a limit per minute)
_DENIED, _UNPAID = re.compile(r"40[1234]"), "429"


class Gateway(ABC):
    """An OpenAI-compatible address (`base_url` ends in /v1) and the keys to it. Threads may share it.

    `environ` are the caller's environment variables, with the keys that the deployment needs.
    """

    base_url: str
    #: whether responses are stored, so that an answer that was begun may be finished at no cost
    replays = False

    def __init__(self, models: ModelList, ledger: Ledger, environ: Mapping[str, str]) -> None:
        self.models, self.ledger, self.environ = models, ledger, environ
        self.id = secrets.token_hex(8)
        self._budgets: dict[str, Decimal | None] = {}
        self._alive = lock(self._lock_path(self.id))
        self._alive.acquire()

    def _lock_path(self, gateway: str) -> Path:
        """The lock that a gateway holds while its process lives, beside the ledger: all that share one must see it."""
        return self.ledger.path.parent / ".locks" / "gateways" / f"{gateway}.lock"

    def _lives(self, gateway: str) -> bool:
        """Whether another gateway of the ledger has not ended."""
        sign = lock(self._lock_path(gateway))
        with suppress(filelock.Timeout), sign.acquire(timeout=0):
            self._lock_path(gateway).unlink(missing_ok=True)
            return False
        return True

    def _lose(self, experiment: str) -> None:
        """Mark an experiment's open requests as lost, but not those of gateways that live, such as another one that
        asks the same judge."""
        self.ledger.lose(experiment, [other for other in self.ledger.admitted() if self._lives(other)])

    def _end(self) -> None:
        """End its keys, and mark their open requests as lost."""
        self.ledger.dismiss(self.id)
        for experiment in self._budgets:
            self._lose(experiment)
        self._alive.release()
        self._lock_path(self.id).unlink(missing_ok=True)

    def issue_key(
        self,
        experiment: Experiment,
        holder: str,
        budget_usd: Decimal | None = None,
        answer: str = "",
        cap_usd: Decimal | None = None,
    ) -> str:
        """A new key for an instance or `shared`. It opens the experiment's model and the embedding models.

        `answer` is the name of the answer that the key is for, `cap_usd` the most that this answer may cost, including
        all tries.

        `budget_usd` limits what the whole experiment may spend, including earlier runs; every key carries it.
        A request is sent if the most that it may cost fits. Raises UserError for an unknown model, or one whose
        environment variables are not set.
        """
        self.models.ready(experiment.model, self.environ)
        if experiment.id not in self._budgets:  # a killed run could not mark its lost requests
            self._lose(experiment.id)
        self._budgets[experiment.id] = budget_usd
        key = self._new_key(experiment, holder, budget_usd)
        owner = (experiment.id, experiment.repo, experiment.model, experiment.label, experiment.settings)
        issued = Key(experiment.alias(holder), *owner, holder, budget_usd, experiment.track, answer, cap_usd)
        if cap_usd is not None:
            self._cap(key, max(Decimal(0), cap_usd - self.ledger.spent_on(answer)))
        self.ledger.issue(key_hash(key), issued)
        self.ledger.admit(key_hash(key), self.id)
        return key

    def _cap(self, key: str, left_usd: Decimal) -> None:  # noqa: B027 - only a deployment that asks no ledger needs it
        """Limit what one key may spend, if the deployment does not use the ledger for this."""

    @abstractmethod
    def _new_key(self, experiment: Experiment, holder: str, budget_usd: Decimal | None) -> str:
        """A key that the deployment accepts once it is in the ledger."""

    def choices(self, model: Model) -> int:
        """How many answers one request to a model may ask for."""
        return 1

    def exhausted(self, experiment: Experiment, answer: str = "") -> bool:
        """Whether the bookings so far reach the experiment's budget, or a request did not fit it; lost requests count
        with their highest possible cost. Where responses are stored, never for an answer that was begun: its responses
        may all be replays, which cost nothing, and any other request is refused by itself."""
        budget = self._budgets.get(experiment.id)
        if budget is None or (self.replays and answer and self.ledger.is_begun(answer)):
            return False
        booked = self._booked(experiment)
        is_used_up = booked > budget or (booked == budget and not self._is_free(experiment.model))
        return is_used_up or self.ledger.is_refused(experiment.id, budget, self.id)

    def _is_free(self, name: str) -> bool:
        """Whether a model costs nothing, whatever is asked."""
        return not self.models.get(name).price.worst_of_any(0, 0)

    def _booked(self, experiment: Experiment) -> Decimal:
        return self.ledger.committed(experiment.id)

    def spend(self, experiment: Experiment) -> Decimal:
        """The exact spending in USD, including every request that was answered before this call."""
        self.settle(experiment)
        return self.ledger.spend(experiment.id)

    def given_up(self, experiment: Experiment, key: str) -> str:
        """Why a key was left without an answer: a request did not fit the budget or the answer's cap, or the provider
        failed at the last one, or refused it, and the experiment has no answer of the model at all.

        Empty in any other case: only failures in the ledger count. If a provider refused a request for its content,
        this is not a failure of the provider. If the key's last answer reached the budget, nothing was refused.
        """
        hashed = key_hash(key)
        if cause := self.ledger.refusal(hashed):
            return cause
        status = self.ledger.last_status(hashed)
        if status == BUDGET_BUSY:
            return status
        if _MISCONFIGURED.fullmatch(status):
            return "" if self.ledger.has_answers(experiment.id) else f"provider_{status}"
        return f"provider_{status}" if _FAILED.fullmatch(status) else ""

    def denied(self, experiment: Experiment, *keys: str, is_certain: bool = True) -> str:
        """The model that a request of these keys could not reach because of its key, its name or an unpaid bill, as
        any other could not; empty if there is none. If the caller is not `is_certain` that none of its requests is to
        blame, the model must never have answered in this experiment."""
        self.settle(experiment)
        for model, status in self.ledger.rejected([key_hash(key) for key in keys]):
            if is_certain and (status == _UNPAID or _DENIED.fullmatch(status)):
                return model
            if _DENIED.fullmatch(status) and not self.ledger.has_answer_of(experiment.id, model):
                return model
        return ""

    def is_up(self) -> bool:
        """Whether anything answers at its address."""
        parts = urlsplit(self.base_url)
        with suppress(OSError), socket.create_connection((parts.hostname, parts.port or PORTS[parts.scheme]), PATIENCE):
            return True
        return False

    @abstractmethod
    def settle(self, experiment: Experiment | None = None) -> None:
        """Wait until every answer of an experiment, or of all, is in the ledger: a proxy books after it answers."""
