"""A page as one self-contained file: it needs no network, and its policy allows only its own style and script.

Everything that comes from a repository or a model is escaped. A page extends `shell.html.j2` (blocks `title`, `body`)
and imports the templates beside it. Returns text, writes nothing.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from pipeline.core.console import counted
from pipeline.report.diff import marked

#: package and name of a text that goes into a page
Text = tuple[str, str]
#: the images that a policy allows: those in the page, and those beside it too, whether it is opened as a file or served
EMBEDDED, BESIDE = "data:", "data: file: 'self'"


@cache
def environment(package: str) -> jinja2.Environment:
    """The templates of a package and of this one, each compiled once. Values are escaped, and an undefined name is an
    error."""
    loaders = [jinja2.PackageLoader(name, "") for name in (package, __package__)]
    templates = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
    )
    templates.filters |= {"diff": marked, "words": words, "counted": counted}
    return templates


def policed(
    template: jinja2.Template,
    styles: Sequence[Text],
    scripts: Sequence[Text],
    images: str = EMBEDDED,
    /,
    **context: Any,
) -> str:
    """A page with its style, its script, and a policy that allows these two, `images` and nothing else."""
    style, script = ("".join(map(_text, texts)) for texts in (styles, scripts))
    policy = f"default-src 'none'; img-src {images}; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    return template.render(style=style, script=script, policy=policy, **context)


def words(text: object) -> str:
    """`not_applied` becomes `not applied`; names of instances, repositories and providers' models are unchanged."""
    return str(text) if "__" in str(text) or "/" in str(text) else str(text).replace("_", " ")


def _text(source: Text) -> str:
    package, name = source
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The source expression with which a policy allows exactly this script or style."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
