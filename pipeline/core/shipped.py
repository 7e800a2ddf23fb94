"""Files that come with the program and are no Python: `vendors/`, `docker/` and the embedded demo.

They stand beside the package in a checkout, and in a folder of its own inside the package of a wheel (pyproject.toml).
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
#: the folder that has `vendors/`, `docker/` and `data/demo/`
ROOT = _PACKAGE / "shipped" if (_PACKAGE / "shipped").is_dir() else _PACKAGE.parent
