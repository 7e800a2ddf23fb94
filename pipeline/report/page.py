"""A page as one self-contained file: it needs no network, and its policy allows its own style and script and no other.

Everything that comes from a repository or a model is escaped. A page extends `shell.html.j2` (blocks `title`, `body`)
and imports the parts beside it. Makes text, writes nothing.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import jinja2

from pipeline.core.console import counted
from pipeline.report.diff import marked

#: package and name of a text that goes into a page
Text = tuple[str, str]


def environment(package: str) -> jinja2.Environment:
    """The templates of a package, and the parts of this one. What goes into them is escaped, and a name that is not
    there is an error."""
    loaders = [jinja2.PackageLoader(one, "") for one in (package, __package__)]
    found = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    found.filters |= {"diff": marked, "words": words, "percent": percent, "counted": counted}
    return found


def policed(template: jinja2.Template, styles: Sequence[Text], scripts: Sequence[Text], **context: Any) -> str:
    """A page with its style, its script, and the policy that allows these two and nothing else."""
    style, script = ("".join(map(_text, texts)) for texts in (styles, scripts))
    policy = f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    return template.render(style=style, script=script, policy=policy, **context)


def words(text: object) -> str:
    """`not_applied` as `not applied`; names of instances keep their form."""
    return str(text) if "__" in str(text) else str(text).replace("_", " ")


def percent(text: str) -> str:
    """A number and its sign stay on one line."""
    return text.replace(" %", "\u00a0%")


def _text(of: Text) -> str:
    package, name = of
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """How a policy names the one script or style that it allows."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
