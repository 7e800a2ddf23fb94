"""axe-core at the one version that audits everything here, and the audit itself as a function of JavaScript.

Reads axe-core from npm, pinned, once. Whatever has a document can be audited: load `source()`, then call `function()`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pipeline.core.npm_package import NpmPackage

AXE = NpmPackage(
    "axe-core@4.14.1",
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    "axe.min.js",
)


@cache
def source() -> bytes:
    """axe-core's script. Raises InfrastructureError where npm cannot get it."""
    return AXE.file().read_bytes()


@cache
def function() -> str:
    """The audit as a function expression of rules to leave out; it gives a list of {rule, criteria, element}."""
    return files(__package__).joinpath("audit.js").read_text(encoding="utf-8")
