"""A LiteLLM proxy with PostgreSQL that already runs: it issues the keys, limits spending, and logs requests.

An experiment is a team, so its keys share a budget. The log is read back into the ledger, with exact costs from the
list's prices. Not covered: several proxy processes behind one address, whose logs are written separately.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any

from pipeline.core.errors import InfrastructureError, UserError, unknown
from pipeline.llm.admin import Admin
from pipeline.llm.config import listed
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.ledger import BUDGET_EXCEEDED, CACHED, CAP_REACHED, OK, UNCOUNTED, Booking, Ledger, Sent, key_hash
from pipeline.llm.models import PRICES, PROXY_KEY, PROXY_URL, Model, ModelList
from pipeline.llm.prices import usage_of
from pipeline.llm.rate_limits import PACES
from pipeline.llm.unanswered import booked_status

#: seconds for the proxy to write its log, which it does every few seconds
WRITING_LIMIT = 120
#: how the log names a single try of a request, which has its own row if it took too long
TRY = re.compile(r"-attempt-\d+$")
#: USD by which two sums of LiteLLM's binary floats may differ
ROUNDING = Decimal("1e-9")
#: statuses of a request that took too long, and may have cost something each time that it was sent
TIMED_OUT = ("408", "504")


class DeployedGateway(Gateway):
    """A gateway to an existing proxy. `admin` talks to it, and `patience` is how long it may take to write its log.

    `_teams` holds, by experiment, the spending that the ledger knows and the proxy does not.
    """

    patience = WRITING_LIMIT

    def __init__(self, admin: Admin, models: ModelList, ledger: Ledger, environ: Mapping[str, str]) -> None:
        self._admin, self._served = admin, admin.models()
        super().__init__(models, ledger, environ)
        self.base_url = f"{environ[PROXY_URL].rstrip('/')}/v1"
        self._mark = admin.new_key(f"a11y-bench/mark/{secrets.token_hex(4)}", ["a model that does not exist"])
        self._marks, self._keys = 0, [self._mark]
        self._teams: dict[str, Decimal] = {}
        self._end_killed()

    def _end_killed(self) -> None:
        """Delete the keys of gateways on this machine that ended without closing."""
        for gateway, hashes in self.ledger.admitted().items():
            if not self._lives(gateway):
                for hashed in hashes:
                    with suppress(UserError):  # it has expired
                        self._admin.delete_keys([hashed])
                self.ledger.dismiss(gateway)

    # -- keys -------------------------------------------------------------------------------------------------------
    def _new_key(self, experiment: Experiment, holder: str, budget_usd: Decimal | None) -> str:
        for name in (experiment.model, *self._embedding_models()):
            self._check(self.models.get(name))
        if experiment.id not in self._teams:
            self._find(experiment)
        remaining = None if budget_usd is None else float(budget_usd - self._unknown_to_proxy(experiment))
        self._admin.limit(experiment.id, remaining)
        opened = [experiment.model, *self._embedding_models()]
        key = self._admin.new_key(f"{experiment.alias(holder)}/{secrets.token_hex(4)}", opened, experiment.id)
        self._keys.append(key)
        return key

    def _cap(self, key: str, left_usd: Decimal) -> None:
        self._admin.cap(key, float(left_usd))

    def _embedding_models(self) -> list[str]:
        return [
            name for name, model in self.models.models.items() if model.kind == "embedding" and name in self._served
        ]

    def _check(self, model: Model) -> None:
        """Raise UserError unless the proxy serves the model of the list, at the list's prices, within its limits. It
        sends no batches."""
        if model.in_batches:
            hint = f"unset {PROXY_URL} for this model, or choose one without 'batch' in {self.models.path}"
            raise UserError(f"'{model.name}' is asked in batches, which a proxy with a database cannot send", hint=hint)
        if model.name not in self._served:
            raise unknown("model of the LiteLLM proxy", model.name, list(self._served))
        listed, actual = _facts(model.entry), _facts(self._served[model.name])
        differing = [name for name in listed if actual.get(name) != listed[name]]
        if differing:
            hint = f"give the proxy this list, or this command the proxy's: --models; {self.models.path}"
            raise UserError(f"the LiteLLM proxy has another {differing[0]} for '{model.name}'", hint=hint)

    def _find(self, experiment: Experiment) -> None:
        """Find or create the experiment's team, and read back requests of an interrupted run."""
        spent = self._spent(experiment.id)
        self._read_back(experiment.id)
        self._teams[experiment.id] = self.ledger.spend(experiment.id) - spent

    def _spent(self, team: str) -> Decimal:
        return Decimal(str(self._admin.team(team)["spend"]))

    def _booked(self, experiment: Experiment) -> Decimal:
        return self._unknown_to_proxy(experiment) + self._spent(experiment.id)

    def _unknown_to_proxy(self, experiment: Experiment) -> Decimal:
        """The amount that counts towards a budget and is not in the proxy's sum: spending that the proxy does not know,
        and the highest possible cost of requests whose cost is unknown."""
        unknown = self.ledger.committed(experiment.id) - self.ledger.spend(experiment.id)
        return self._teams[experiment.id] + unknown

    def given_up(self, experiment: Experiment, key: str) -> str:
        self.settle(experiment)
        return super().given_up(experiment, key)

    # -- the ledger -------------------------------------------------------------------------------------------------
    def settle(self, experiment: Experiment | None = None) -> None:
        """Wait for the log. It is written in the order of the requests: once a mark is there, so are all before it."""
        teams = [experiment.id] if experiment else list(self._teams)
        self._marks += 1
        self._admin.refused(self._mark)
        deadline = time.monotonic() + self.patience
        while self._logged_by_us() < self._marks or not all(map(self._read_back, teams)):
            if time.monotonic() > deadline:
                raise InfrastructureError(
                    f"the LiteLLM proxy's log lacks requests that its teams have paid for, {self.patience} s after the"
                    " last: two answers of one id are one row there",
                    cause="proxy",
                )
            time.sleep(0.5)

    def _logged_by_us(self) -> int:
        return len(list(self._admin.log(api_key=key_hash(self._mark))))

    def _read_back(self, team: str) -> bool:
        """Book a team's logged requests. Returns whether they are all that the team has spent."""
        rows = list(self._admin.log(team_id=team))
        for row in rows:
            self._record(row)
        return abs(sum(Decimal(str(row["spend"])) for row in rows) - self._spent(team)) < ROUNDING

    def _record(self, row: Mapping[str, Any]) -> None:
        """Book a row of the log. Requests that were refused before they were sent, and single tries, have no row in the
        ledger."""
        about = row["metadata"]
        refused = about.get("attempted_retries") is None
        error = about.get("error_information") or {}
        if refused and error.get("error_class") == "BudgetExceededError":
            is_cap = "Key=" in (error.get("error_message") or "")  # a budget is the team's
            self.ledger.refuse(row["api_key"], CAP_REACHED if is_cap else BUDGET_EXCEEDED)
        if refused or TRY.search(row["litellm_call_id"]) or row["model_group"] not in self.models.models:
            return
        model = self.models.get(row["model_group"])
        booking = _booking(row, model)
        self.ledger.record(
            Sent(row["litellm_call_id"], row["startTime"], row["api_key"], model.name, model.row_kind),
            booking,
            self._worst(model) * booking.sends if booking.status in (UNCOUNTED, *TIMED_OUT) else None,
        )

    def _worst(self, model: Model) -> Decimal:
        """The highest possible cost of a request, in USD, since the log contains neither its length nor the limit of
        its answer."""
        entry = listed(self.models)[model.name]
        return model.price.worst_of_any(entry["context"], entry["most"])

    def close(self) -> None:
        """Settle, and delete the keys."""
        try:
            self.settle()
        finally:
            self._admin.delete_keys(self._keys)
            self._end()


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a model's entry that the proxy must share: the provider's name of the model, its limits per minute,
    and its prices."""
    parameters = {name: entry["litellm_params"].get(name) for name in ("model", *PACES)}
    prices = {name: float(entry["model_info"][name]) for name in PRICES if entry["model_info"].get(name) is not None}
    return {**parameters, **prices}


def _booking(row: Mapping[str, Any], model: Model) -> Booking:
    """How the request of a row of LiteLLM's log ended."""
    about, latency = row["metadata"], row["request_duration_ms"] or 0
    if row["cache_hit"] == "True":
        return Booking(CACHED, latency_ms=latency)
    sends = 1 + (about.get("attempted_retries") or 0)
    if row["status"] == "failure":
        error = about.get("error_information") or {}
        status = error.get("error_code") or error.get("error_class") or "error"
        status = booked_status(error.get("llm_provider") or "", status, error.get("error_message") or "")
        return Booking(status, latency_ms=latency, sends=sends)
    usage = usage_of(about.get("usage_object"))
    is_counted = usage.tokens_in and (usage.tokens_out or model.kind == "embedding")
    return Booking(OK if is_counted else UNCOUNTED, usage, model.price.cost(usage), latency, sends)


@contextmanager
def deployed_gateway(models: ModelList, ledger: Ledger, environ: Mapping[str, str]) -> Iterator[Gateway]:
    """The proxy that `environ` names, with keys that are deleted after the block."""
    if not environ.get(PROXY_KEY):
        raise UserError(f"{PROXY_URL} is set and {PROXY_KEY} is not", hint="set it to the proxy's master key")
    admin = Admin(environ[PROXY_URL].rstrip("/"), environ[PROXY_KEY])
    try:
        gateway = DeployedGateway(admin, models, ledger, environ)
        try:
            yield gateway
        finally:
            gateway.close()
    finally:
        admin.close()
