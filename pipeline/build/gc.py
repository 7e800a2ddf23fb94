"""`a11y-bench gc`."""

from __future__ import annotations

import json
from typing import Any

import click

from pipeline.core.options import data_option, sandbox_option


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option("--all", "everything", is_flag=True, help="Also remove what datasets refer to. Asks first.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--forget-gone", is_flag=True, help="Forget data directories that no longer exist on this host.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@sandbox_option
@data_option
def command(
    dry_run: bool, everything: bool, yes: bool, forget_gone: bool, as_json: bool, sandbox: str, store: Any
) -> None:
    """Remove layers, caches and leftovers that no dataset refers to.

    \b
    Reads 02_dataset/ in DATA and in every other data directory that uses the same sandbox; writes nothing
    there. Layers in use stay, and so do the layers below them. While any data directory cannot be
    read here (gone, or of another host or user), only leftovers are removed. Layers are shared:
    each size is what removing that layer alone would free. Removed layers are made again from the
    clone when needed. Refused while a build, prediction or evaluation is running in one of the
    data directories.
    \b
    Examples: a11y-bench gc --dry-run
              a11y-bench gc --forget-gone
    """
    from pipeline.build import garbage
    from pipeline.core.cache import cache_root
    from pipeline.core.console import say, table
    from pipeline.core.sizes import show_size
    from pipeline.sandbox import open_sandbox

    opened = open_sandbox(sandbox, cache_root())
    served = opened.images.served()
    if everything and not (dry_run or yes):
        listing = "".join(f"\n  {directory}" for directory in served)
        click.confirm(f"This removes the layers of all data directories:{listing}\nContinue?", abort=True, err=True)
    for directory in served:
        if forget_gone and directory.is_gone and not dry_run:
            opened.images.forget(directory)
    with garbage.everything(store, opened) if everything else garbage.referring(store, opened) as known:
        for directory, why in known.unknown.items():
            say(f"cannot tell what {directory} refers to: {why}")
        judged = garbage.judge(opened.images.kept(), known)
        judged = judged if dry_run else garbage.collect(opened, judged)
        for directory in served if everything and not dry_run else ():
            opened.images.forget(directory)
    if as_json:
        click.echo(json.dumps([decision.row() for decision in judged], indent=1))
    else:
        fate = {False: "stays", True: "would go" if dry_run else "removed"}
        rows = [(fate[goes], kept.kind, kept.name, show_size(kept.size), why) for kept, goes, why in judged]
        table("What the sandbox keeps", ("", "what", "name", "size", "why"), rows)
    sizes = {goes: sum(decision.kept.size for decision in judged if decision.goes is goes) for goes in (True, False)}
    say(f"{'would free' if dry_run else 'freed'} {show_size(sizes[True])}; {show_size(sizes[False])} stay")
