"""Helpers that several cases share: which files they are, and that a test can load them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages_bench import TEST, look_at, make_case, page

from pipeline.core.errors import UserError
from pipeline.core.store import Store
from pipeline.pages.cases import Case, load_cases
from pipeline.pages.runs import Asked, load_run, open_run
from pipeline.pages.verdict import judge

#: a helper, and a helper of that helper
FILES = {"shared/h.js": 'exports.sure = require("./deep").sure;', "shared/deep/index.js": "exports.sure = true;"}


def with_helpers(folder: Path, test: str, files: dict[str, str] = FILES) -> Case:
    """A case in a folder with helpers."""
    make_case(folder / "harbour", test)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (case,) = load_cases(folder)
    return case


@pytest.mark.parametrize(
    ("loads", "names"),
    [
        ('require("../shared/h.js")', ["shared/deep/index.js", "shared/h.js"]),
        ("require( '../shared/h' )", ["shared/deep/index.js", "shared/h.js"]),
        ('import { sure } from "../shared/deep/index.js"', ["shared/deep/index.js"]),
        ('await import("../shared/deep/index.js")', ["shared/deep/index.js"]),
        ('import "../shared/deep/index.js"', ["shared/deep/index.js"]),
        ('require("../shared/none.js")', []),
        ('require("path")', []),
        ('require("../../outside.js")', []),
        ('require("../link.js")', []),
        ('require("./inside.js")', []),
    ],
)
def test_what_a_test_loads_is_found(loads: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "outside.js").write_text("")
    (tmp_path / "cases" / "harbour").mkdir(parents=True)
    (tmp_path / "cases" / "link.js").symlink_to(tmp_path / "outside.js")
    case = with_helpers(tmp_path / "cases", loads, {**FILES, "harbour/inside.js": "", "shared/unused.js": ""})
    assert list(case.helpers) == names
    assert set(case.code) >= {f"cases/{name}" for name in names} | {"test.js"}


def test_the_digest_covers_helpers_and_nothing_else_beside_the_case(tmp_path: Path) -> None:
    case = with_helpers(tmp_path, 'require("../shared/h.js")')
    (tmp_path / "shared" / "unused.js").write_text("x")
    assert load_cases(tmp_path)[0].digest == case.digest
    (tmp_path / "shared" / "deep" / "index.js").write_text("exports.sure = false;")
    assert load_cases(tmp_path)[0].digest != case.digest


def test_a_case_that_is_named_alone_has_no_helpers(tmp_path: Path) -> None:
    case = with_helpers(tmp_path, 'require("../shared/h.js")')
    (alone,) = load_cases(case.folder)
    assert alone.helpers == {} and list(alone.code) == ["test.js"]


def test_helpers_count_for_the_size_of_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = with_helpers(tmp_path, 'require("../shared/h.js")', {"shared/h.js": " " * 99})
    monkeypatch.setattr("pipeline.pages.cases.LARGEST", 99)
    with pytest.raises(UserError, match="larger than 99 bytes"):
        case.code  # noqa: B018


def test_a_run_copies_helpers(tmp_path: Path) -> None:
    case = with_helpers(tmp_path / "cases", 'require("../shared/h.js")')
    store = Store(tmp_path / "data")
    open_run(store, "harbours", [case], Asked(("one",)), {}, "mine")
    (copied,) = load_run(store, "mine").cases
    assert (copied.digest, list(copied.helpers)) == (case.digest, list(case.helpers))


@pytest.mark.engine("browser")
@pytest.mark.parametrize("kind", ["require", "import"])
def test_a_test_can_load_a_helper(tmp_path: Path, kind: str) -> None:
    """Only the case's own folder was there: it was not found."""
    more = 'await assert("sure", () => helper.sure); await assert("Has a heading"'
    test = f'const helper = require("../shared/h.js"); {TEST}'.replace('await assert("Has a heading"', more)
    if kind == "import":
        test = 'import helper from "../shared/h.js"; export ' + test.partition("module.exports.")[2].replace(
            "run =", "const run =", 1
        )
    observed = look_at(page(), with_helpers(tmp_path, test)).observed
    assert (judge(observed).result, observed.fault) == ("passed", "")
    assert [assertion.status for assertion in observed.assertions] == ["pass"] * 4
