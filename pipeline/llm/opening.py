"""Which gateway is opened: a deployed proxy if the environment names one, otherwise an embedded one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pipeline.llm.deployed import deployed_gateway
from pipeline.llm.embedded import embedded_gateway
from pipeline.llm.gateway import Gateway
from pipeline.llm.ledger import Ledger
from pipeline.llm.models import PROXY_URL, load_models


@contextmanager
def open_gateway(
    models: Path,
    ledger: Path,
    *,
    say: Callable[[str], None],
    log: Path,
    responses: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Iterator[Gateway]:
    """The gateway that the environment variables `environ` select, open during the block.

    `models` is LiteLLM's configuration file, `log` gets the output of an embedded proxy, and `responses` is the folder
    in which it keeps answers to greedy requests. Raises UserError for a wrong list, or a proxy that differs from it;
    InfrastructureError for a proxy that does not work.
    """
    listed, book = load_models(models), Ledger(ledger)
    try:
        if environ.get(PROXY_URL):
            opened = deployed_gateway(listed, book, environ)
        else:
            opened = embedded_gateway(listed, book, environ, say=say, log=log, responses=responses)
        with opened as gateway:
            yield gateway
    finally:
        book.close()
