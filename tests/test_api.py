"""The stages from Python: the documented example, run unchanged."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_library import make_library

from pipeline import api
from pipeline.core.errors import UserError
from pipeline.core.records import Verdict

PAGE = Path(__file__).parents[1] / "docs/python.md"
EXAMPLE = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names in the example, after it was run."""
    folder, names = tmp_path_factory.mktemp("api"), {}
    (folder / "ui.git").symlink_to(make_library(folder / "library").folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("A11Y_BENCH_CACHE", str(folder / "cache"))
        exec(compile(EXAMPLE, PAGE, "exec"), names)
        names["instances"] = names["bench"].instances("acme/ui")
        names["report"] = names["analysis"].report.read_text(encoding="utf-8")
    return names


def test_the_example_goes_through_all_stages(ran: dict[str, Any]) -> None:
    assert ran["funnel"].total > len(ran["numbers"]) == 1
    assert ran["resolved"] == [instance.instance_id for instance in ran["instances"]] != []
    assert all(isinstance(verdict, Verdict) for verdict in ran["verdicts"])


def test_the_analysis_has_frames_tables_and_the_report(ran: dict[str, Any]) -> None:
    analysis = ran["analysis"]
    assert len(analysis.frames.instances) == len(ran["instances"]) and "<html" in ran["report"]


def test_the_documented_methods_and_parameters_are_complete() -> None:
    """Every public method is in the table, with its parameters and their defaults."""
    rows = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    methods = {
        name: function for name, function in vars(api.Bench).items() if inspect.isfunction(function) and name[0] != "_"
    }
    assert rows.keys() == methods.keys()
    for name, parameters in rows.items():
        asked = ast.parse(f"def f({parameters}): ...").body[0]
        assert isinstance(asked, ast.FunctionDef)
        known = [
            parameter for parameter in inspect.signature(methods[name]).parameters.values() if parameter.name != "self"
        ]
        assert [arg.arg for arg in (*asked.args.args, *asked.args.kwonlyargs)] == [
            parameter.name for parameter in known
        ]
        named = [parameter.name for parameter in known if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
        assert [kwonlyarg.arg for kwonlyarg in asked.args.kwonlyargs] == named
        defaults = [parameter.default for parameter in known if parameter.default is not inspect.Parameter.empty]
        documented = [*asked.args.defaults, *filter(None, asked.args.kw_defaults)]
        assert [ast.literal_eval(default) for default in documented] == defaults


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        (lambda data: api.Bench(data / "typo").candidates("acme/ui"), "no such data directory"),
        (lambda data: api.Bench(data / "typo").analyze(), "no such data directory"),
        (lambda data: api.Bench(data, jobs=0), "'0' is not a number from 1"),
        (lambda data: api.Bench(data).build("acme/ui", repeats=0), "'0' is not a number from 1"),
        (lambda data: api.Bench(data).predict("acme/ui", "oracle", budget="much"), "'much' is not an amount in USD"),
        (lambda data: api.Bench(data).predict("acme/ui", "GLM-4.6", settings="none.toml"), "no such settings file"),
    ],
)
def test_bad_arguments_raise_a_user_error(tmp_path: Path, calls: Callable[[Path], object], message: str) -> None:
    """A result of nothing would look like a result."""
    with pytest.raises(UserError, match=message):
        calls(tmp_path)


def test_bad_input_raises_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a repository"):
        api.Bench(tmp_path).instances("nothing")
    with pytest.raises(UserError, match="git clone"):
        api.Bench(tmp_path).collect("acme/ui", tmp_path)
