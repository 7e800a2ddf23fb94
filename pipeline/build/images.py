"""`a11y-bench images`: `push`, `pull`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import click

from pipeline.core.options import Decorator, Group, data_option, repos_argument, sandbox_option, subset_options

registry_argument: Decorator = click.argument("registry")
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=Group)
def command() -> None:
    """Share the images of datasets through an image registry, so that each is built once.

    \b
    REGISTRY is HOST:PORT or HOST/PATH, such as registry.example:5000 or ghcr.io/NAME/layers.
    REPOS are org/repo [default: all with a dataset].
    Images hold other people's code: use a registry that is not public.
    """


@command.command()
@registry_argument
@repos_argument
@subset_options
@json_option
@sandbox_option
@data_option
def push(registry: str, repos: Any, subset: Any, as_json: bool, sandbox: str, store: Any) -> None:
    """Send the images of datasets to REGISTRY.

    \b
    Only layers that the registry lacks are sent. Reads DATA/02_dataset/<repo>.jsonl; writes nothing there.
    Example: a11y-bench images push registry.example:5000 grommet/grommet
    Exit code: 0 all are there, 1 some images are not on this machine.
    """
    hint = "not on this machine: push where they were built, or let `build` or `evaluate` make them"
    _share("push", registry, repos, subset, as_json, sandbox, store, hint)


@command.command()
@registry_argument
@repos_argument
@subset_options
@json_option
@sandbox_option
@data_option
def pull(registry: str, repos: Any, subset: Any, as_json: bool, sandbox: str, store: Any) -> None:
    """Fetch the images of datasets from REGISTRY, so that they need not be built here.

    \b
    Only layers that are missing here are fetched. Reads DATA/02_dataset/<repo>.jsonl; writes nothing there.
    Example: a11y-bench images pull registry.example:5000 grommet/grommet
    Exit code: 0 all are here, 1 the registry lacks some.
    """
    hint = "not in the registry: push where they were built, or let `evaluate` make them here"
    _share("pull", registry, repos, subset, as_json, sandbox, store, hint)


def _share(
    direction: Literal["push", "pull"],
    registry: str,
    repos: Any,
    subset: Any,
    as_json: bool,
    sandbox: str,
    store: Any,
    hint: str,
) -> None:
    from pipeline.build.share import share
    from pipeline.core.cache import cache_root
    from pipeline.core.console import counted, say
    from pipeline.core.dataset import built, read_dataset
    from pipeline.sandbox import open_sandbox
    from pipeline.sandbox.images import Directory

    instances = [instance for repo in built(store, repos) for instance in subset.of(read_dataset(store, repo))]
    opened = open_sandbox(sandbox, cache_root())
    opened.images.serve(Directory.here(store.root))
    images = share(opened, instances, registry, direction, say)
    if as_json:
        click.echo(json.dumps([image.row() for image in images], indent=1))
    else:
        _show(images)
    missing = sum(image.state == "missing" for image in images)
    if missing:
        say(f"{counted(missing, 'image')} {hint}")
        raise SystemExit(1)


def _show(images: Sequence[Any]) -> None:
    from pipeline.core.console import say, table
    from pipeline.core.sizes import show_size

    def shown(size: int | None) -> str:
        return "unknown" if size is None else show_size(size)

    rows = [
        (image.state, image.kind, image.digest, len(image.instances), shown(image.wire_bytes), shown(image.disk_bytes))
        for image in images
    ]
    table("Images", ("", "what", "digest", "instances", "on the wire", "on this disk"), rows)
    say(f"{show_size(sum(image.wire_bytes or 0 for image in images))} on the wire")
