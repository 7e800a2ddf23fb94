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
    given: Mapping[str, str] = os.environ,
) -> Iterator[Gateway]:
    """The gateway that `given` asks for, for as long as the block.

    `models` is LiteLLM's configuration file, `log` takes all that an embedded proxy prints, `responses` is the folder
    in which it keeps the answers to greedy requests. Raises UserError for a list that is wrong or a proxy that is not
    what was said, InfrastructureError for a proxy that does not work.
    """
    listed, book = load_models(models), Ledger(ledger)
    try:
        if given.get(PROXY_URL):
            opened = deployed_gateway(listed, book, given)
        else:
            opened = embedded_gateway(listed, book, given, say=say, log=log, responses=responses)
        with opened as gateway:
            yield gateway
    finally:
        book.close()
