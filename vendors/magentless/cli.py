"""The command: reads its arguments, OPENAI_BASE_URL and OPENAI_API_KEY; writes to --out; answers with an exit code.

    0     the agent came to an end, with or without a patch: patch.diff, metadata.json, trajectory.jsonl
    2     arguments, input or environment that cannot be used: nothing is written
    75    the provider failed (EX_TEMPFAIL): error.json alone, with a cause of `causes.Fault`

Slow imports wait until the arguments are read, so that --help is instant.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from magentless import outputs
from magentless.causes import CAUSES, BadInput, ProviderFailure

if TYPE_CHECKING:
    from magentless.provider import Endpoint

FINISHED, BAD_INPUT, TEMPORARY_FAILURE = 0, 2, 75


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the agent once and gives the exit code."""
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
    from magentless.checkout import Checkout
    from magentless.inputs import load_settings, load_task
    from magentless.provider import ChatModel

    task, settings, checkout = load_task(args.task), load_settings(args.settings), Checkout(args.checkout)
    model = ChatModel(args.model, _endpoint(), settings.provider)
    outputs.clear(args.out)
    run = Agent(task, checkout, model, settings).run()
    metadata = {
        "instance_id": task.instance_id,
        **run.record(),
        "settings_digest": settings.digest(),
        "requests": len(model.trajectory),
    }
    outputs.write_result(args.out, run.patch, model.trajectory, metadata)
    print(f"{task.instance_id}: {run.outcome}: {dict(CAUSES)[run.outcome]}")
    return FINISHED


def _endpoint() -> Endpoint:
    from magentless.provider import Endpoint

    base_url, key = (os.environ.get(name, "") for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"))
    if not base_url or not key:
        raise BadInput("OPENAI_BASE_URL and OPENAI_API_KEY must both be set, to the gateway and the experiment's key")
    return Endpoint(base_url, key)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="magentless", description="Agentless-style repair of one task.")
    parser.add_argument("--task", type=Path, required=True, help="JSON file: what is told of the instance")
    parser.add_argument("--checkout", type=Path, required=True, help="git working tree; it is not written to")
    parser.add_argument("--out", type=Path, required=True, help="folder for patch, metadata and trajectory")
    parser.add_argument("--model", required=True, help="model name, sent as it is")
    parser.add_argument("--settings", type=Path, required=True, help="TOML file with values other than the defaults")
    return parser
