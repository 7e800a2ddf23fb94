"""Files that come with the program and are not Python: `vendors/`, `docker/` and the embedded demo.

They are beside the package in a checkout, and in a folder inside the package in a wheel (pyproject.toml).
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
#: the folder that has `vendors/`, `docker/` and `data/demo/`
ROOT = _PACKAGE / "shipped" if (_PACKAGE / "shipped").is_dir() else _PACKAGE.parent
