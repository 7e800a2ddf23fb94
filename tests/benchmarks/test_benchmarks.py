"""The benchmarks run to their end at a small size; only results that do not depend on the machine are asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from histories import History

from benchmarks import analyze, collect, evaluate, evidence, goals, growth, known, logs, peers, scale, units
from benchmarks.goals import Figure
from benchmarks.processes import Spent
from pipeline.core.cluster import ADDRESS
from pipeline.core.names import parse_repo
from pipeline.core.records import Status
from pipeline.ecosystems import parser


@pytest.mark.long
def test_collect_spends_no_more_points_than_its_goal(tmp_path: Path) -> None:
    """And the scan finds what a naive loop finds; otherwise the benchmark itself fails."""
    done = CliRunner().invoke(collect.main, ["--pulls", "1000", "--json", str(tmp_path / "figures.json")])
    assert isinstance(done.exception, SystemExit | None), done.exception
    figures = {figure["name"]: figure for figure in json.loads((tmp_path / "figures.json").read_text())}
    assert figures["points for 100 pull requests"]["met"]
    assert figures["candidates"]["value"] > 0


def test_logs_are_read_to_the_last_test() -> None:
    (figure,) = logs.figures(megabytes=1)
    assert figure.value > 0


def test_evaluate_grades_every_stored_run(tmp_path: Path) -> None:
    """A missing run ends the measured program, and with it the benchmark."""
    arguments = ["--reports", "5", "--tests", "5", "--megabytes", "1", "--json", str(tmp_path / "figures.json")]
    done = CliRunner().invoke(evaluate.main, arguments)
    assert isinstance(done.exception, SystemExit | None), done.exception
    figures = {figure["name"]: figure for figure in json.loads((tmp_path / "figures.json").read_text())}
    assert figures["report of 5 instances x 5 tests"]["value"] > 0


@pytest.mark.long
def test_analyze_stays_within_its_memory(tmp_path: Path) -> None:
    """And makes every table and figure that the data allow; otherwise the benchmark measures something else."""
    arguments = ["--instances", "6", "--models", "2", "--tests", "6", "--json", str(tmp_path / "figures.json")]
    done = CliRunner().invoke(analyze.main, arguments)
    assert isinstance(done.exception, SystemExit | None), done.exception
    figures = {figure["name"]: figure for figure in json.loads((tmp_path / "figures.json").read_text())}
    assert figures["peak memory"]["met"]
    assert figures["tables"]["value"] > 25 and figures["figures"]["value"] > 10


def test_labelled_texts_are_numbers_alone() -> None:
    """No text of a foreign repository is kept; both halves have every stratum, and enough of both answers."""
    labels = evidence.read_labels()
    assert len(labels) == len({label[:2] for label in labels}) >= 300
    assert evidence.LABELS.read_text().splitlines()[0] == "repository,number,stratum,half,accessibility"
    for half in evidence.HALVES:
        part = [label for label in labels if label.half == half]
        assert {label.stratum for label in part} == set(evidence.STRATA)
        assert min(sum(label.accessibility for label in part), sum(not label.accessibility for label in part)) > 50


def test_rates_weight_each_text_by_the_size_of_its_stratum() -> None:
    """One correct match that stands for 196 texts, one wrong match for 260, and one missed text for 638."""
    readings = [("both", True, True), ("ours", False, True), ("plausible", True, False), ("rest", False, False)]
    rows = [(evidence.Label("acme/ui", n, *one[:1], "held-out", one[1]), one[2]) for n, one in enumerate(readings)]
    assert evidence.rates(rows) == (196 / (196 + 260), 196 / (196 + 638))


def test_evidence_is_measured_on_the_texts_of_a_clone(tmp_path: Path) -> None:
    history = History(tmp_path / "clone")
    history.commit("first")
    first, second = [read_label for read_label in evidence.read_labels() if read_label.half == "held-out"][:2]
    history.commit(f"Improve accessibility (#{first.number})")
    found = evidence.texts([first, second], {parse_repo(first.repository): history.folder})
    assert [(label, pull.title) for label, pull in found.items()] == [(first, "Improve accessibility")]
    names = [figure.name for figure in evidence.figures(found)]
    assert "held-out: ours, precision" in names and "held-out: the thesis's, recall" in names


@pytest.mark.parametrize(("value", "met"), [(2.0, True), (2.1, False)])
def test_a_goal_is_met_or_not(value: float, met: bool) -> None:
    figure = Figure("time", value, "s", ("at most", 2))
    assert (figure.met, figure.row[-1]) == (met, "yes" if met else "NO")


# -- the goals of the project, growth, peers -------------------------------------------------------------------------
def test_the_document_lists_the_goals_and_their_commands() -> None:
    """A benchmark's measurement decides whether a goal is met; nobody writes it by hand."""
    text = goals.PAGE.read_text(encoding="utf-8")
    rows = goals.table(goals.last(text), [], "")
    assert goals.with_table(text, rows) == text and len(rows) == 2 + len(goals.GOALS)
    modules = {path.stem for path in Path(goals.__file__).parent.glob("*.py")}
    assert {goal.command.split()[0] for goal in goals.GOALS} <= modules


def test_a_measurement_replaces_the_previous_one() -> None:
    first, second = goals.GOALS[:2]
    known_before = {goal.what: goals.Last("1.2 ×", "2026-01-01") for goal in (first, second)}
    measured = [{"name": f"{first.figure} warm run", "value": 1.75}]
    rows = goals.table(known_before, measured, "2026-02-03")[2:4]
    assert "| 1.75 × | 2026-02-03 | **no** |" in rows[0] and "| 1.2 × | 2026-01-01 | yes |" in rows[1]


def test_known_candidates_start_no_process(tmp_path: Path) -> None:
    """Each candidate used to start fifteen."""
    known.generate(tmp_path, 40, 2)
    assert int(known.planned(tmp_path, "--pr=20").said.rpartition(known.FIRST)[2]) < 20


def test_growth_is_the_slope_between_the_last_two_sizes() -> None:
    assert growth.exponent([(10, 9), (100, 3), (1000, 30)]) == pytest.approx(1)
    assert growth.exponent([(10, 1), (1000, 10_000)]) == pytest.approx(2)


def test_a_stage_that_grows_faster_than_its_units_misses_its_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(growth.STAGES, "square", lambda _, units: Spent(0, units**2, 10**8))
    figures = {figure.name: figure for figure in growth.figures("square", (10, 100))}
    assert not figures["square: exponent of time"].met and figures["square: exponent of memory"].met


def test_the_generated_log_is_read_completely() -> None:
    tests = parser("jest-text").read(peers.jest_log(45, 3), peers.ROOT).tests
    assert (len(tests), sum(status is Status.FAILED for status in tests.values())) == (45, 3)
    assert len({name.rpartition(" > ")[2] for name in tests}) == 45, "titles that collapse would flatter us"


# -- the simulation of many hosts ------------------------------------------------------------------------------------
def outcomes(number: int = 400, hosts: tuple[int, ...] = (1, 4, 40)) -> dict[tuple[str, int], scale.Outcome]:
    return {(outcome.way, outcome.hosts): outcome for outcome in scale.simulated(number, hosts)}


def test_a_single_host_takes_the_sum_of_its_units() -> None:
    work = scale.instances(400)
    installs = {unit.environment: unit.install for unit in work}
    alone = sum(unit.seconds for unit in work) + sum(installs.values())
    found = outcomes()["affinity", 1]
    assert found.installs == len(installs)
    assert alone / scale.CONSTANTS["slots"] / 3600 <= found.hours < 1.05 * alone / scale.CONSTANTS["slots"] / 3600
    assert found.bottleneck == "hosts"


def test_more_hosts_take_less_time_for_the_same_work() -> None:
    found = outcomes()
    for way in scale.WAYS:
        assert found[way, 1].hours > 3 * found[way, 4].hours > 3 * found[way, 40].hours
        assert all(share <= 1 for share in found[way, 40].busy.values())
    assert found["affinity", 40].installs == found["shared", 40].installs < found["not shared", 40].installs
    assert found["affinity", 40].registry_gb < found["not shared", 40].registry_gb
    assert outcomes() == found


def test_a_slow_network_is_the_bottleneck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(scale.CONSTANTS, "wire_mb_s", 0.5)
    assert outcomes()["shared", 40].bottleneck == "wire"


def test_draws_have_the_quantiles_of_the_table() -> None:
    import random

    chance = random.Random(1)
    drawn = sorted(scale.drawn("tests", chance) for _ in range(4000))
    wanted = scale.TABLE["distributions"]["tests"]
    assert drawn[2000] == pytest.approx(wanted[3], rel=0.1)
    assert drawn[3000] == pytest.approx(wanted[4], rel=0.1)
    assert wanted[0] <= drawn[0] and drawn[-1] <= wanted[-1]


def test_the_table_names_the_bottleneck() -> None:
    first, _, *rows = scale.table(scale.simulated(50, [1, 2])).splitlines()
    assert first.endswith("| bottleneck |")
    assert len(rows) == 2 * len(scale.WAYS) and all(row.endswith("| hosts |") for row in rows)


# -- units on workers ------------------------------------------------------------------------------------------------
@pytest.mark.engine("git")
def test_units_are_measured_on_real_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, "")  # what the benchmark sets is gone afterwards
    found = list(units.figures(tmp_path, 40, 2, 0.2))
    rows = goals.table({}, [figure._asdict() for figure in found], "2026-01-01")
    assert sum("2026-01-01" in row for row in rows) == 2, "the third goal is about 10,000 units"
    assert all(figure.value > 0 for figure in found)
