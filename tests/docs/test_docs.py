"""Documentation is tested: what it names exists, and what exists is documented."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.cli import COMMANDS
from pipeline.core.names import Repo
from pipeline.core.store import Store

ROOT = Path(__file__).parents[2]
JUST = Path(sys.executable).with_name("just")
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
READMES = sorted(path for path in ROOT.glob("**/README.md") if not {".venv", "node_modules"} & set(path.parts))
#: the code that reads environment variables
CODE = ("pipeline/**/*.py", "vendors/**/*.py", "docker/**/*.sh", "data/demo/*.yaml", "**/*.just", ".ci/run")
VARIABLE = re.compile(r"\bA11Y_BENCH_[A-Z_]+[A-Z]\b")


def text(*paths: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def code(*paths: Path) -> str:
    """The code in Markdown: fenced blocks and spans."""
    parts = re.findall(r"```\w*\n(.*?)```|`([^`\n]+)`", text(*paths), re.DOTALL)
    return "\n".join(block or span for block, span in parts)


def none(what: str, found: set[str]) -> None:
    """Fail with the whole list, if it is not empty."""
    assert not found, f"{what}: {', '.join(sorted(found))}"


def recipes() -> dict[str, str]:
    """The justfile's recipes that are not private, with their commands."""
    dump = subprocess.run([JUST, "--dump", "--dump-format", "json"], cwd=ROOT, capture_output=True, check=True).stdout
    found = json.loads(dump)["recipes"]
    return {name: _body(recipe["body"]) for name, recipe in found.items() if not recipe["private"]}


def _body(lines: list[list]) -> str:
    return "\n".join("".join(part if isinstance(part, str) else part[0][1] for part in line) for line in lines)


RECIPES = recipes()


# -- recipes and commands --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_can_be_shown(name: str) -> None:
    shown = subprocess.run([JUST, "--show", name], cwd=ROOT, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_calls_existing_commands_and_scripts(name: str) -> None:
    """A sub-command, an extra, or a script: recipes are short, and name these."""
    body = RECIPES[name].replace("bench ", "uv run a11y-bench ", name in ("demo", "doctor", "bench-run", "campaign"))
    extras = tomllib.loads(text(ROOT / "pyproject.toml"))["project"]["optional-dependencies"]
    assert set(re.findall(r"a11y-bench (\w+)", body)) <= set(COMMANDS)
    assert set(re.findall(r"--extra (\w+)", body)) <= set(extras)
    assert all((ROOT / script).exists() for script in re.findall(r"docker/\S+\.sh", body))


def test_every_recipe_is_documented() -> None:
    named = set(re.findall(r"[a-z][a-z-]*", code(README, *DOCS)))
    none("recipes that no page names", set(RECIPES) - named)


def test_every_command_is_documented() -> None:
    named = set(re.findall(r"a11y-bench ([a-z]+)", code(README, *DOCS)))
    none("commands that no page names", set(COMMANDS) - named)


@pytest.mark.parametrize("path", [README, *DOCS], ids=lambda path: path.name)
def test_recipes_and_commands_named_in_the_docs_exist(path: Path) -> None:
    """Recipes (`just a b` are two, unless the first one takes arguments) and sub-commands."""
    called = re.findall(r"\bjust ([a-z][a-z-]*)", code(path))
    none("recipes that do not exist", set(called) - set(RECIPES))
    none("commands that do not exist", set(re.findall(r"a11y-bench ([a-z]+)\b(?![/:])", code(path))) - set(COMMANDS))


def test_hints_name_recipes_that_exist() -> None:
    """`(just build-run)` and `run: just build-run` in messages and docstrings."""
    called = re.findall(r"(?:\(|: |or |`)just ([a-z]+(?:-[a-z]+)*)", text(*(ROOT / "pipeline").rglob("*.py")))
    assert len(called) > 20
    none("recipes that do not exist", set(called) - set(RECIPES))


@pytest.mark.parametrize("path", [README, *DOCS, ROOT / ".ci/run"], ids=lambda path: path.name)
def test_no_recipe_is_passed_to_another_as_an_argument(path: Path) -> None:
    """It would take the name as an argument: `just base-build browser-install` builds with the argument
    browser-install."""
    calls = [re.findall(r"[a-z][a-z-]*", call) for call in re.findall(r"\bjust ([a-z][a-z -]*)", text(path))]
    swallowed = {
        f"{one} {other}"
        for call in calls
        for one, other in pairwise(call)
        if {one, other} <= set(RECIPES) and "$@" in RECIPES[one] and one != "bench"  # other is a benchmark
    }
    none("recipes that are swallowed", swallowed)


@pytest.mark.parametrize("path", [README, *DOCS], ids=lambda path: path.name)
def test_links_have_a_target(path: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", text(path))
    none("links that lead nowhere", {link for link in links if not (path.parent / link).exists()})


@pytest.mark.parametrize("path", [README, *DOCS], ids=lambda path: path.name)
def test_paths_of_the_project_exist(path: Path) -> None:
    named = re.findall(r"`((?:docker|docs|pipeline|tests|vendors)/[\w./-]+)`", text(path))
    none("places that do not exist", {place for place in named if not (ROOT / place).exists()})


@pytest.mark.parametrize("path", sorted({*DOCS, *READMES}), ids=lambda path: str(path.relative_to(ROOT)))
def test_rows_of_a_table_have_as_many_cells_as_its_head(path: Path) -> None:
    """Two rows on one line would be one row with its second half cut off."""
    plain = re.sub(r"^```.*?^```", "", text(path), flags=re.DOTALL | re.MULTILINE)
    tables = re.findall(r"(?:^\|.*\n)+", plain, re.MULTILINE)
    cells = [[len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()] for table in tables]
    assert [table.splitlines()[0] for table, counts in zip(tables, cells, strict=True) if len(set(counts)) > 1] == []


# -- environment variables -------------------------------------------------------------------------------------------
def test_every_variable_is_documented_and_used() -> None:
    """In the README, or in a folder's own."""
    sources = [path for pattern in CODE for path in ROOT.glob(pattern) if ".venv" not in path.parts]
    used, documented = (set(VARIABLE.findall(text(*paths))) for paths in (sources, [*READMES, *DOCS]))
    none("variables that no page names", used - documented)
    none("variables that no code reads", documented - used)


# -- data/README.md --------------------------------------------------------------------------------------------------
def test_the_table_of_data_covers_the_store(tmp_path: Path) -> None:
    cells = re.findall(r"^\| `([^`]+)` \|", text(ROOT / "data" / "README.md"), re.MULTILINE)
    names = {"<repo>": "acme__ui", "<agent>": "agent", "<model>": "model"}
    rows = [re.sub(r"<\w+>", lambda match: names.get(match[0], match[0]), cell) for cell in cells]
    store, repo = Store(tmp_path), Repo("acme", "ui")
    by_repo = [store.reviews, store.decisions, store.raw, store.dataset, store.qualification, store.published]
    by_model = [store.predictions, store.evaluation]
    paths = [place(repo) for place in by_repo] + [place(repo, "agent", "model") for place in by_model]
    paths += [store.analysis, store.costs, store.ledger, store.root / "schema.json"]
    wanted = [str(path.relative_to(store.root)) for path in paths]
    assert [path for path in wanted if not any(f"{row}/".startswith(f"{path}/") for row in rows)] == []


def test_the_readme_counts_the_published_lists() -> None:
    lists = sorted((ROOT / "data" / "locks").glob("*.jsonl"))
    instances = sum(len(text(path).splitlines()) for path in lists)
    assert f"lists {instances} instances of {len(lists)} repositories" in text(README)


# -- traps, rules and invariants -------------------------------------------------------------------------------------
def marked(kind: str) -> set[str]:
    """The ids on tests."""
    pattern = rf"mark\.{kind}\(\"?([\w.-]+)\"?\)"
    return {match for path in (ROOT / "tests").rglob("*.py") for match in re.findall(pattern, text(path))}


def rows(path: Path) -> set[str]:
    """The ids in the first cells of a page's tables: `one`, or `one`, `another`."""
    return rows_of(text(path)) if path.exists() else set()


def rows_of(page: str) -> set[str]:
    cells = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
    return {match for cell in cells for match in re.findall(r"[\w.-]+", cell)}


@pytest.mark.parametrize(("kind", "page"), [("trap", "rules.md"), ("rule", "rules.md"), ("invariant", "design.md")])
def test_every_id_of_a_test_has_its_row(kind: str, page: str) -> None:
    """`pytest -m rule` lists what is proved; the page explains each id."""
    none(f"{kind} ids without a row in docs/{page}", marked(kind) - rows(ROOT / "docs" / page))


def test_every_trap_has_a_test() -> None:
    """A row without a test claims that we avoid the trap, and nothing checks it."""
    _, traps = text(ROOT / "docs" / "rules.md").split("\n## Traps we avoid\n")
    none("traps without a test", rows_of(traps) - marked("trap") - {"trap"})


def test_every_invariant_has_a_test() -> None:
    assert marked("invariant") == {str(number) for number in range(1, 8)}
