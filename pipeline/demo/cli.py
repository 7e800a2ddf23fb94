"""`a11y-bench demo`."""

from __future__ import annotations

import time
from pathlib import Path

import click

from pipeline.core.options import jobs_option


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("data/demo/out"),
    show_default=True,
    help="The data directory of the demo.",
)
@click.option(
    "--sandbox",
    envvar="A11Y_BENCH_SANDBOX",
    show_envvar=True,
    help="docker or local [default: local, because the demo's code is our own].",
)
@click.option(
    "--assess", is_flag=True, help="Also assess all patches: audits, stories and a scripted judge (needs a browser)."
)
@jobs_option
def command(data: Path, sandbox: str | None, assess: bool, jobs: int) -> None:
    """Run all stages on the embedded benchmark: a small UI library with twelve pull requests.

    \b
    The agents are oracle (gold patches), nop (empty patches) and magentless with a scripted model.
    Every outcome and verdict is compared with data/demo/expected.json; a difference is an error (exit code 1).
    Prints a table and the path of an HTML report. A second run does only what is missing.
    """
    from pipeline.analyze.cli import present
    from pipeline.core.console import say
    from pipeline.core.store import Store
    from pipeline.core.trust import DEMO
    from pipeline.demo.assess import unexpected
    from pipeline.demo.expected import differences
    from pipeline.demo.stage import REPO, choose_sandbox, run_demo

    started = time.monotonic()
    store = Store(data)
    run_demo(store, DEMO, choose_sandbox(sandbox), jobs=jobs, assess=assess)
    present(store)
    wrong = [*differences(store, REPO, DEMO), *(unexpected(store, REPO, DEMO) if assess else ())]
    for line in wrong:
        say(f"NOT AS EXPECTED: {line}")
    if wrong:
        raise SystemExit(1)
    say(f"every outcome and verdict is as expected ({time.monotonic() - started:.0f} s)")
