"""The command line: reads arguments and environment; writes to --out and --cache; returns an exit code.

OPENAI_BASE_URL and OPENAI_API_KEY are the gateway and the instance's key. Indexing, which serves several instances, is
booked on OPENAI_SHARED_API_KEY, by default the instance's key.

    0     the agent finished, with or without a patch: patch.diff, metadata.json, trajectory.jsonl
    2     unusable arguments, input or environment: nothing is written
    75    the provider failed (EX_TEMPFAIL): only error.json, with a cause of `causes.Fault`

Slow imports come after the arguments are parsed, so --help is instant.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from magentless import outputs
from magentless.causes import CAUSES, BadInput, ProviderFailure

if TYPE_CHECKING:
    from magentless.wire import Endpoint

FINISHED, BAD_INPUT, TEMPORARY_FAILURE = 0, 2, 75


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the agent once; returns the exit code."""
    args = _parser().parse_args(arguments)
    try:
        return _work(args)
    except BadInput as error:
        print(f"magentless: {error}", file=sys.stderr)
        return BAD_INPUT
    except ProviderFailure as failure:
        outputs.write_error(args.out, failure.fault, str(failure))
        print(f"magentless: {failure.fault}: {failure}", file=sys.stderr)
        return TEMPORARY_FAILURE


def _work(args: argparse.Namespace) -> int:
    from magentless.agent import Agent
    from magentless.assembly import Parts
    from magentless.inputs import load_pictures, load_settings, load_task, read_contexts

    started = time.monotonic()
    task, settings, pictures = load_task(args.task), load_settings(args.settings), load_pictures(args.pictures)
    contexts, tables = read_contexts(args.contexts), Path(args.encodings) if args.encodings else None
    parts = Parts(
        args.model, task, args.checkout, settings, _endpoint(), pictures, contexts, choices=args.choices, tables=tables
    )
    outputs.clear(args.out)
    run = Agent(parts.session, parts.nearest(args.cache, args.answer)).run()
    waited = parts.wire.clock.waited
    metadata = {
        "instance_id": task.instance_id,
        **run.record(),
        "settings_digest": parts.session.settings.digest(),
        "requests": parts.wire.sent,
        "seconds": {"waiting": round(waited, 3), "own": round(time.monotonic() - started - waited, 3)},
    }
    outputs.write_result(args.out, run.patches, parts.ordered_trajectory(), metadata)
    print(f"{task.instance_id}: {run.outcome}: {dict(CAUSES)[run.outcome]}")
    return FINISHED


def _endpoint() -> Endpoint:
    from magentless.wire import Endpoint

    base_url, key = (os.environ.get(name, "") for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"))
    if not base_url or not key:
        raise BadInput("OPENAI_BASE_URL and OPENAI_API_KEY must both be set, to the gateway and the experiment's key")
    return Endpoint(base_url.rstrip("/"), key, os.environ.get("OPENAI_SHARED_API_KEY") or key)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="magentless", description="Agentless-style repair of one task.")
    parser.add_argument("--task", type=Path, required=True, help="the task as JSON")
    parser.add_argument("--pictures", type=Path, help="folder of the statement's pictures: 1.png, 2.jpg, ...")
    parser.add_argument("--checkout", type=Path, required=True, help="git working tree, which is not changed")
    parser.add_argument("--out", type=Path, required=True, help="folder for patch, metadata and trajectory")
    parser.add_argument("--cache", type=Path, required=True, help="folder that later tasks share, for vectors")
    parser.add_argument("--answer", default="", help="its name: what is paid for is kept for it in the cache folder")
    parser.add_argument("--model", required=True, help="model name, sent unchanged")
    parser.add_argument("--contexts", default="{}", help="context sizes of models in tokens, as JSON by name")
    parser.add_argument("--encodings", default="", help="folder of encodings' tables; without it tokens are estimated")
    parser.add_argument("--choices", type=int, default=1, help="answers that one request to the model may ask for")
    parser.add_argument("--settings", type=Path, required=True, help="TOML file with values other than the defaults")
    return parser
