"""The code's structure as documented: package docstrings map their modules, imports have no cycles, and names in docs
exist."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PIPELINE = ROOT / "pipeline"
FLOORS = sorted(path.parent for path in PIPELINE.glob("*/__init__.py"))
PAGES = sorted(path for path in ROOT.glob("**/*.md") if not {".venv", "node_modules", "archive"} & set(path.parts))
#: `core.law`, `pipeline.core.law`: a module, or a name in one
DOTTED = re.compile(rf"(?<![\w./-])(?:pipeline\.)?((?:{'|'.join(path.name for path in FLOORS)})(?:\.\w+)+)")
SLASHED = re.compile(r"(?<![\w./-])pipeline/[\w./-]*[\w/]")
#: data files, not modules, with names that look like a package's
ENDINGS = {
    "cfg",
    "css",
    "csv",
    "html",
    "js",
    "json",
    "jsonl",
    "log",
    "md",
    "parquet",
    "py",
    "sqlite",
    "svg",
    "toml",
    "ts",
    "xml",
}


def face(folder: Path) -> str:
    """The docstring of a package."""
    return ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""


def modules(folder: Path) -> set[str]:
    """Modules and packages of a package."""
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return packages | {path.stem for path in folder.glob("*.py")} - {"__init__"}


def remarks(path: Path) -> str:
    """Docstrings and comments of a module."""
    source = path.read_text(encoding="utf-8")
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    return "\n".join([*docstrings, *re.findall(r"(?m)^\s*#.*$", source)])


def dead(text: str) -> Iterator[str]:
    """Names below `pipeline` in a text that do not exist."""
    yield from (place for place in SLASHED.findall(text) if not (ROOT / place).exists())
    for dotted in DOTTED.findall(text):
        names = dotted.split(".")
        if not ENDINGS & set(names) and not _exists(names):
            yield dotted


def _exists(names: list[str]) -> bool:
    """Whether it is a package, a module, or a name in one."""
    path = PIPELINE
    for place, name in enumerate(names):
        if (path / name).is_dir():
            path /= name
        elif (path / f"{name}.py").exists() or (path / name).exists():
            path /= f"{name}.py"
        else:
            source = path if path.suffix else path / "__init__.py"
            return place == len(names) - 1 and re.search(rf"\b{name}\b", source.read_text()) is not None
    return True


@pytest.mark.parametrize("floor", FLOORS, ids=lambda path: path.name)
def test_a_face_maps_every_module_of_its_floor(floor: Path) -> None:
    words = set(re.findall(r"\w+", face(floor)))
    assert modules(floor) - words == set()


@pytest.mark.parametrize("floor", FLOORS, ids=lambda path: path.name)
def test_a_face_maps_only_existing_modules(floor: Path) -> None:
    """The first column of a map: names, then two spaces or more."""
    rows = re.findall(r"(?m)^ {0,4}([a-z]\w*/?(?:, \w+/?)*) {2,}\S", face(floor))
    named = {name.strip("/") for row in rows for name in row.split(", ")}
    assert named, "the face has no map"
    assert named <= modules(floor)


def test_the_map_names_every_floor() -> None:
    words = set(re.findall(r"\w+", face(PIPELINE)))
    assert modules(PIPELINE) - words == set()
    page = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    table = page[page.index("## The floors") : page.index("## The law")]
    assert modules(PIPELINE) - set(re.findall(r"\w+", table)) == set()


def test_there_are_no_circular_imports() -> None:
    """Layers separate packages; within a package, modules are ordered as well. Raises CycleError with the modules."""
    graph = grimp.build_graph("pipeline", cache_dir=None)
    order = TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
    assert len(list(order.static_order())) > 300


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_named_in_the_docs_exist(page: Path) -> None:
    assert sorted(dead(page.read_text(encoding="utf-8"))) == []


def test_modules_named_in_docstrings_exist() -> None:
    found = {f"{path.relative_to(ROOT)}: {name}" for path in PIPELINE.rglob("*.py") for name in dead(remarks(path))}
    assert sorted(found) == []


def test_the_checks_find_dead_names() -> None:
    """A check that cannot fail checks nothing."""
    text = (
        "see core.control, pipeline/core/oracle.py and pipeline.core.nothing.more; core.law and report.html are there"
    )
    assert sorted(dead(text)) == ["core.control", "core.nothing.more", "pipeline/core/oracle.py"]


def test_modules_in_the_table_of_the_design_exist() -> None:
    """Each name like `collect/stage` in the table about one candidate is a module or a package."""
    page = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    table = page[page.index("## One candidate, from clone to report") : page.index("## A verdict, step by step")]
    named = re.findall(r"`((?:[a-z]+/)+\w*)`", table)
    assert len(named) > 30
    existing = {name for name in named if (PIPELINE / name).is_dir() or (PIPELINE / f"{name}.py").exists()}
    assert set(named) - existing == set()


def test_mypy_reads_every_module() -> None:
    """`just check` says nothing about a file that the settings leave out."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True)
    modules = map(Path, listed.stdout.split())
    assert [path for path in modules if not any(path.is_relative_to(part) for part in settings["files"])] == []
