"""The demo's files agree with each other, and each pull request shows what the README says."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.patches import is_test_file
from pipeline.demo.history import build_history

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "data" / "demo"
PATTERNS = tomllib.loads((ROOT / "pipeline" / "core" / "patterns.toml").read_text(encoding="utf-8"))
INSTANCE = "a11y-bench__harbor-ui-{}"

COLLECT = {"candidate", "no_source_changes", "no_test_changes", "no_a11y_evidence", "base_missing"}
BUILD = {
    "qualified", "environment_failed", "no_fix_transition", "regression", "gold_does_not_fix", "test_lost", "anomalous",
    "patch_failed", "no_tests_run", "runner_unsupported",
}  # fmt: skip


def read_json(name: str) -> Any:
    return json.loads((DEMO / name).read_text(encoding="utf-8"))


def read_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]


PULLS = {
    pull["number"]: {**pull, "patch": path.with_name("change.patch").read_text(encoding="utf-8")}
    for path in sorted(DEMO.glob("pulls/*/pull.toml"))
    for pull in [tomllib.loads(path.read_text(encoding="utf-8"))]
}
ISSUES = {issue["number"]: issue for issue in read_lines("issues.jsonl")}
EXPECTED = read_json("expected.json")
COMMITS = read_json("commits.json")
ANSWERS = tomllib.loads((DEMO / "model.toml").read_text(encoding="utf-8"))["answer"]
CANDIDATES = [n for n in PULLS if EXPECTED["pulls"][str(n)]["collect"] == "candidate"]
QUALIFIED = [n for n in CANDIDATES if EXPECTED["pulls"][str(n)]["build"] == "qualified"]
STEPS = ("files", "folders", "elements", "lines", "repair")
SCRIPTED = EXPECTED["verdicts"]["magentless/scripted"]


def matches(kind: str, field: str, text: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in PATTERNS[kind][field])


def changed(number: int) -> tuple[list[str], list[str]]:
    """The source files and the test files of a pull request."""
    paths = re.findall(r"^diff --git a/(\S+) b/", PULLS[number]["patch"], re.MULTILINE)
    tests = [path for path in paths if is_test_file(path)]
    return [path for path in paths if path not in tests], tests


def has_evidence(pull: dict[str, Any]) -> bool:
    return matches("a11y", "label", pull["title"]) or matches("a11y", "text", f"{pull['title']}\n{pull['body']}")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("demo") / "repository"
    build_history(DEMO, target)
    return target


def test_every_pull_request_has_its_outcome_and_its_commits() -> None:
    names = {str(number) for number in PULLS}
    assert set(EXPECTED["pulls"]) == set(COMMITS["pulls"]) == names
    assert {outcome["collect"] for outcome in EXPECTED["pulls"].values()} <= COLLECT
    assert {EXPECTED["pulls"][str(number)]["build"] for number in CANDIDATES} <= BUILD


def test_history_is_in_the_order_of_numbers_and_dates() -> None:
    assert list(PULLS) == sorted(PULLS)
    dates = [pull["merged_at"] for pull in PULLS.values()]
    assert dates == sorted(dates)
    heads = [COMMITS["base"], *(commits["merge"] for commits in COMMITS["pulls"].values())]
    assert [commits["base"] for commits in COMMITS["pulls"].values()] == heads[:-1]


def test_linked_issues_exist_and_one_candidate_has_no_issue() -> None:
    assert {issue for pull in PULLS.values() for issue in pull["issues"]} == set(ISSUES)
    assert not set(ISSUES) & set(PULLS)
    assert [number for number in CANDIDATES if not PULLS[number]["issues"]] == [27]


@pytest.mark.parametrize("number", PULLS)
def test_linked_issues_are_mentioned_in_the_text(number: int) -> None:
    """A local clone knows only links that title and body contain."""
    pull = PULLS[number]
    assert all(re.search(rf"(?:#|/issues/){issue}\b", pull["body"]) for issue in pull["issues"])


@pytest.mark.parametrize("number", PULLS)
def test_collecting_ends_as_expected(number: int) -> None:
    """Only title and body count, since a local clone has no labels and no issue texts."""
    sources, tests = changed(number)
    reasons = {
        "no_source_changes": not sources,
        "no_test_changes": not tests,
        "no_a11y_evidence": not has_evidence(PULLS[number]),
    }
    assert [name for name, holds in reasons.items() if holds] in ([EXPECTED["pulls"][str(number)]["collect"]], [])
    assert any(reasons.values()) != (number in CANDIDATES)


def test_the_pull_request_without_accessibility_fix_has_no_evidence() -> None:
    pull = PULLS[14]
    texts = [pull, *(ISSUES[number] for number in pull["issues"])]
    assert not any(has_evidence(text) for text in texts)
    assert not any(matches("a11y", "label", label) for text in texts for label in text["labels"])


def test_files_of_the_special_pull_requests() -> None:
    assert len(changed(22)[0]) == 3
    assert [Path(path).suffix for path in changed(19)[1]] == [".snap"]
    assert [Path(path).suffix for path in changed(27)[0]] == [".css"]
    assert "file:./vendor/harbor-icons-1.0.0.tgz" in PULLS[36]["patch"] and max(PULLS) == 36


@pytest.mark.parametrize("number", QUALIFIED)
def test_fixes_belong_to_touched_test_files(number: int) -> None:
    outcome = EXPECTED["pulls"][str(number)]
    tests = {path.replace("__snapshots__/", "").removesuffix(".snap") for path in changed(number)[1]}
    assert outcome["fixes"] and {name.split(" > ")[0] for name in outcome["fixes"]} <= tests
    assert not set(outcome["fixes"]) & set(outcome["unstable"])


def test_assessments_cover_the_qualified_instances_and_the_judges_absence() -> None:
    instances = {INSTANCE.format(number) for number in QUALIFIED}
    assert all(set(assessed) == instances for assessed in EXPECTED["assessments"].values())
    judged = {name: expected["judge"] for name, expected in EXPECTED["assessments"]["scripted"].items()}
    answers = {
        answer["instance"] for answer in tomllib.loads((DEMO / "judge.toml").read_text(encoding="utf-8"))["answer"]
    }
    assert {name for name, rating in judged.items() if rating} | {INSTANCE.format(27)} == answers
    assert [name for name, rating in judged.items() if rating is None] == [INSTANCE.format(27), INSTANCE.format(33)]


def test_verdicts_cover_the_qualified_instances() -> None:
    instances = {INSTANCE.format(number) for number in QUALIFIED}
    assert all(set(verdicts) == instances for verdicts in EXPECTED["verdicts"].values())
    assert set(EXPECTED["verdicts"]["oracle"].values()) == {"resolved"}
    assert set(EXPECTED["verdicts"]["nop"].values()) == {"empty"}
    assert Counter(SCRIPTED.values()) == {"resolved": 3, "unresolved": 3, "empty": 1}


def test_reviews_cover_the_candidates() -> None:
    reviews = read_lines("reviews.jsonl")
    assert [review["instance_id"] for review in reviews] == [INSTANCE.format(number) for number in CANDIDATES]
    principles = {principle for review in reviews for principle in review["principles"]}
    assert principles == {"perceivable", "operable", "understandable", "robust"}


def test_the_model_answers_each_step_once() -> None:
    asked = {(instance, step): 1 for instance in SCRIPTED for step in STEPS}
    assert Counter((answer["instance"], answer["step"]) for answer in ANSWERS) == asked


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer['instance']}-{answer['step']}")
def test_answers_fit_the_base(answer: dict[str, str], history: Path) -> None:
    """Files exist at the base commit; every SEARCH occurs once in its file, unless the patch must stay empty."""
    base = COMMITS["pulls"][answer["instance"].rsplit("-", 1)[1]]["base"]
    for fence in re.findall(r"```\w*\n(.*?)```", answer["reply"], re.DOTALL):
        for path in re.findall(r"^(?:### )?(src/\S+)$", fence, re.MULTILINE):
            text = show(history, f"{base}:{path}")
            wanted = 0 if SCRIPTED[answer["instance"]] == "empty" else 1
            for search in re.findall(r"<<<<<<< SEARCH\n(.*?)\n=======\n", fence, re.DOTALL):
                assert text.count(search) == wanted


def show(history: Path, name: str) -> str:
    command = ["git", f"--git-dir={history}", "show", name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_lock_file_names_the_public_registry_only() -> None:
    lock = read_json("library/package-lock.json")
    assert lock["lockfileVersion"] == 3
    urls = [entry["resolved"] for entry in lock["packages"].values() if "resolved" in entry]
    assert all(url.startswith("https://registry.npmjs.org/") for url in urls)
