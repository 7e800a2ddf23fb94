"""axe-core, pinned to the version that audits everything here, and the audit as a JavaScript function.

Reads axe-core from npm once. To audit anything that has a document, load `source()` in it and call `function()`.
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
    """axe-core's script. Raises InfrastructureError if npm cannot download it."""
    return AXE.file().read_bytes()


@cache
def function() -> str:
    """The audit as a function expression: takes the rules to leave out, returns a list of {rule, criteria, element}."""
    return files(__package__).joinpath("audit.js").read_text(encoding="utf-8")
