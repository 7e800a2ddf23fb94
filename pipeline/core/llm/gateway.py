"""The gateway: a LiteLLM proxy as a child process, and the keys that open it.

Reads the model list, writes the ledger and the proxy's log. It lives as long as the `with` block. This is the embedded
deployment; any other gives the same `Gateway`: an address, keys, and the ledger. Does not cover a proxy that runs
already.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from pipeline.core.llm.config import configuration, environment
from pipeline.core.llm.experiment import Experiment
from pipeline.core.llm.ledger import Key, Ledger, key_hash
from pipeline.core.llm.models import ModelList, load_models
from pipeline.core.llm.process import running_proxy
from pipeline.core.vendors import vendor_python

#: seconds for the proxy to book the last requests
BOOKING_LIMIT = 10


@dataclass
class Gateway:
    """An OpenAI-compatible address (`base_url` ends in /v1) and the keys to it. Threads may share it."""

    base_url: str
    models: ModelList
    ledger: Ledger
    given: Mapping[str, str]
    _issued: list[str] = field(default_factory=list)

    def issue_key(self, experiment: Experiment, holder: str, budget_usd: Decimal | None = None) -> str:
        """A new key for an instance or `shared`. It opens the experiment's model and the embedding models.

        `budget_usd` limits what the holder spends in this experiment, earlier keys included; requests in flight can
        overshoot it. Raises UserError for an unknown model, or one whose environment variables are not set.
        """
        self.models.ready(experiment.model, self.given)
        key = f"sk-{secrets.token_urlsafe(32)}"
        whose = (experiment.id, experiment.repo, experiment.model, experiment.agent, experiment.settings_digest)
        self.ledger.issue(key_hash(key), Key(experiment.alias(holder), *whose, holder, budget_usd))
        self._issued.append(key_hash(key))
        return key

    def spend(self, experiment: Experiment) -> Decimal:
        """USD, exact, with every request that was answered before this call."""
        self.settle()
        return self.ledger.spend(experiment.id)

    def settle(self) -> None:
        """Wait until what was sent is booked: the proxy books a moment after it answers."""
        deadline = time.monotonic() + BOOKING_LIMIT
        while self.ledger.open_count(self._issued) and time.monotonic() < deadline:
            time.sleep(0.02)

    def close(self) -> None:
        """Once the proxy is gone: what is still open is lost, and says so."""
        self.ledger.lose(self._issued)
        self.ledger.close()


@contextmanager
def open_gateway(
    models: Path, ledger: Path, *, say: Callable[[str], None], log: Path, given: Mapping[str, str] = os.environ
) -> Iterator[Gateway]:
    """Start the proxy; end it with the block.

    `models` is LiteLLM's configuration file, `log` takes all that the proxy prints, `given` is the environment in which
    the providers' keys are. Raises UserError for a list that is wrong, InfrastructureError for a proxy that is.
    """
    listed, python = load_models(models), vendor_python("litellm", say)
    gateway = Gateway("", listed, Ledger(ledger), given)
    master_key = f"sk-{secrets.token_urlsafe(32)}"
    try:
        with tempfile.TemporaryDirectory(prefix="a11y-bench-gateway-") as folder:
            home = Path(folder)
            surroundings = environment(listed, ledger.absolute(), home, master_key, given)
            with running_proxy(python, home, configuration(listed), surroundings, say=say, log=log) as address:
                gateway.base_url = f"{address}/v1"
                yield gateway
                gateway.settle()
    finally:
        gateway.close()
