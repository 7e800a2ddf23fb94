"""`a11y-bench gc`."""

from __future__ import annotations

import json
from typing import Any

import click

from pipeline.core.options import data_option, sandbox_option


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@click.option("--all", "everything", is_flag=True, help="Remove what datasets refer to, too.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
@sandbox_option
@data_option
def command(dry_run: bool, everything: bool, as_json: bool, sandbox: str, store: Any) -> None:
    """Remove layers, caches and leftovers that no dataset of DATA refers to.

    \b
    Reads DATA/02_dataset/*.jsonl; writes nothing there. What is in use stays, and so
    does what a layer that stays stands on. Layers are shared: each size is what goes
    with that layer alone. What was removed is made again from the clone when a build
    or an evaluation needs it. Refused while a build, a prediction or an evaluation of DATA is under way.
    \b
    Example: a11y-bench gc --dry-run
    """
    from pipeline.build.garbage import collect, judge, referenced
    from pipeline.core.cache import cache_root
    from pipeline.core.console import say, table
    from pipeline.core.sizes import show_size
    from pipeline.sandbox import open_sandbox

    with store.still("build", "predict", "evaluate"):
        place = open_sandbox(sandbox, cache_root())
        judged = judge(place.images.kept(), {} if everything else referenced(store))
        judged = judged if dry_run else collect(place, judged)
    if as_json:
        click.echo(json.dumps([one.row() for one in judged], indent=1))
    else:
        fate = {False: "stays", True: "would go" if dry_run else "removed"}
        rows = [(fate[one.goes], one.kept.kind, one.kept.name, show_size(one.kept.size), one.why) for one in judged]
        table("What the sandbox keeps", ("", "what", "name", "size", "why"), rows)
    sizes = {goes: sum(one.kept.size for one in judged if one.goes is goes) for goes in (True, False)}
    say(f"{'would free' if dry_run else 'freed'} {show_size(sizes[True])}; {show_size(sizes[False])} stay")
