"""Links to the programs of a repository's own packages. Pure: the words of a command that makes them.

An install has only the manifests, so no package manager links a program whose file is in the repository. Does not cover
programs whose files have yet to be made: their links fail until then.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from pipeline.build.infer.tree import Tree, own_packages

#: the folder of the links, at the root
FOLDER = "node_modules/.bin"
#: makes programs known by their name: pairs of a name and its file. A file that is not executable is one of Node's
_LINKING = (
    "sh", "-c",
    'mkdir -p node_modules/.bin && while [ "$#" -gt 1 ]; do L="node_modules/.bin/$1"; '
    'if [ ! -e "$L" ]; then rm -f "$L"; if [ -x "$2" ]; then ln -s "../../$2" "$L"; '
    """else printf '#!/bin/sh\\nexec node "%s/%s" "$@"\\n' "$PWD" "$2" > "$L"; chmod +x "$L"; fi; fi; shift 2; done""",
    "link",
)  # fmt: skip


def own_programs(tree: Tree) -> dict[str, tuple[str, str]]:
    """The programs of the repository's own packages: name -> folder and file."""
    programs: dict[str, tuple[str, str]] = {}
    for folder in filter(None, own_packages(tree).values()):
        if manifest := tree.manifest(folder):
            named = manifest.programs.items()
            programs |= {name: (folder, posixpath.normpath(file)) for name, file in named if "/" not in name}
    return programs


def command(programs: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    """The words that link these programs, run at the root. Programs that are there already stay."""
    return (*_LINKING, *(word for name in sorted(programs) for word in (name, posixpath.join(*programs[name]))))


def is_linking(argv: Sequence[str]) -> bool:
    """Whether a command is one that links programs."""
    return tuple(argv[: len(_LINKING)]) == _LINKING
