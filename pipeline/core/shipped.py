"""Files that come with the program and are not Python: `vendors/`, `docker/` and the embedded demo.

In a checkout they are next to the package; in a wheel they are in a folder inside it (pyproject.toml).
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
#: the folder that has `vendors/`, `docker/` and `data/demo/`
ROOT = _PACKAGE / "shipped" if (_PACKAGE / "shipped").is_dir() else _PACKAGE.parent
