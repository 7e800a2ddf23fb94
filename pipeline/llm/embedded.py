"""The embedded deployment: a LiteLLM proxy as a child process, without containers and without a database.

It lives as long as the `with` block. Keys are in the ledger, which the hooks in the proxy read and write (hooks.py).
"""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

from pipeline.core.vendors import vendor_python
from pipeline.llm.batches import Batches
from pipeline.llm.config import configuration, environment
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.ledger import Ledger
from pipeline.llm.models import Model, ModelList
from pipeline.llm.process import running_proxy

#: seconds for the proxy to book the last requests
BOOKING_LIMIT = 10


class EmbeddedGateway(Gateway):
    """A gateway to our own proxy, with our own keys."""

    replays = True

    def _new_key(self, experiment: Experiment, holder: str, budget_usd: Decimal | None) -> str:
        return f"sk-{secrets.token_urlsafe(32)}"

    def choices(self, model: Model) -> int:
        return model.choices

    def settle(self, experiment: Experiment | None = None) -> None:
        deadline = time.monotonic() + BOOKING_LIMIT
        while self.ledger.open_count(self.id) and time.monotonic() < deadline:
            time.sleep(0.02)

    def close(self) -> None:
        """Once the proxy has ended, end its keys and mark open requests as lost."""
        self._end()


@contextmanager
def embedded_gateway(
    models: ModelList,
    ledger: Ledger,
    environ: Mapping[str, str],
    *,
    say: Callable[[str], None],
    log: Path,
    responses: Path | None,
) -> Iterator[Gateway]:
    """Start the proxy, and end it with the block. Raises InfrastructureError if it does not start."""
    python = vendor_python("litellm", say)
    gateway = EmbeddedGateway(models, ledger, environ)
    master_key = f"sk-{secrets.token_urlsafe(32)}"
    try:
        with (
            Batches(models, ledger.path.with_name("batches"), environ, say) as batches,
            tempfile.TemporaryDirectory(prefix="a11y-bench-gateway-") as folder,
        ):
            home = Path(folder)
            settings = configuration(models, responses and responses.absolute(), batches.address)
            surroundings = environment(models, ledger.path, home, master_key, environ, gateway.id)
            with running_proxy(python, home, settings, surroundings, say=say, log=log) as address:
                gateway.base_url = f"{address}/v1"
                yield gateway
                gateway.settle()
    finally:
        gateway.close()
