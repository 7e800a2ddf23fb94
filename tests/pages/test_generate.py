"""Generation: what is asked, what is kept, what it costs, and that nothing is paid for twice."""

from __future__ import annotations

import csv
import os
import signal
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from pages.conftest import Setting
from pages_bench import make_case

from pipeline.core.errors import UserError
from pipeline.core.store import Store, digest
from pipeline.llm.costs import requests
from pipeline.llm.embedded import EmbeddedGateway
from pipeline.llm.ledger import OK, Ledger
from pipeline.llm.models import load_models
from pipeline.llm.provider import Fault
from pipeline.pages.cases import Case, load_cases
from pipeline.pages.generate import Generation
from pipeline.pages.runs import SYSTEM, Asked, Run, load_run


@pytest.fixture
def cases(tmp_path: Path) -> list[Case]:
    """Two cases with prompts that only this test uses, so no answer is kept yet."""
    for name in ("pier", "quay"):
        make_case(tmp_path / "cases" / name, prompt=f"Make a page about {tmp_path.name} and a {name}.")
    return load_cases(tmp_path / "cases")


def generation(setting: Setting, cases: list[Case], asked: Asked, **how: Any) -> Generation:
    set_name = how.pop("case_set", cases[0].folder.parents[1].name)
    arguments = {"models": setting.models, "environ": setting.environ, "gateway": setting.gateway, **how}
    return Generation(setting.store, set_name, cases, asked, **arguments)


def generate(setting: Setting, cases: list[Case], asked: Asked, **how: Any) -> Run:
    run, owed = generation(setting, cases, asked, **how).generate()
    assert owed == {}
    return run


def test_every_prompt_is_sent_once_per_sample(setting: Setting, cases: list[Case]) -> None:
    run = generate(setting, cases, Asked(("one", "other"), 2, (1, 2), 42, temperature=0.5))
    assert [answer.key for answer in run.answers()] == run.keys and len(run.keys) == 8
    assert sorted(path.name for path in (run.folder / "raw" / "pier").iterdir()) == [
        *("one__s0.html", "one__s1.html"),
        *("other__s0.html", "other__s1.html"),
    ]
    assert (run.folder / "raw/quay/one__s1.html").read_text() == "<!doctype html><h1>quay 43</h1></html>"
    bodies = [request.body for request in setting.writer.requests]
    assert {(body["temperature"], body["seed"]) for body in bodies} == {(0.5, 42), (0.5, 43)}
    assert {tuple(message["content"] for message in body["messages"]) for body in bodies} == {
        (SYSTEM, case.prompt) for case in cases
    }


def test_a_single_sample_has_no_suffix_and_no_seed(setting: Setting, cases: list[Case]) -> None:
    run = generate(setting, cases, Asked(("one",)))
    assert [answer.html for answer in run.answers()] == ["raw/pier/one.html", "raw/quay/one.html"]
    assert "seed" not in setting.writer.requests[0].body


def test_tokens_in_and_out_apart_and_money_on_the_track_of_pages(setting: Setting, cases: list[Case]) -> None:
    run = generate(setting, cases, Asked(("one",), 2, (1,), 1), case_set="money")
    usages = [answer.usage for answer in run.answers()]
    assert all(usage.tokens_in and usage.tokens_out for usage in usages)
    spent = sum(usage.cost_usd for usage in usages)
    assert spent == sum(usage.tokens_in * Decimal("0.001") + usage.tokens_out * Decimal("0.002") for usage in usages)
    with setting.store.costs.open(encoding="utf-8", newline="") as lines:
        (row,) = [row for row in csv.DictReader(lines) if row["repo"] == "money"]
    assert (row["track"], row["model"], row["agent"], Decimal(row["cost_llm_usd"])) == ("pages", "one", "page", spent)


@pytest.mark.trap("usage-missing-is-free")
@pytest.mark.parametrize("fault", [Fault(uncounted=True), Fault(half_counted=True)])
def test_an_answer_without_usage_has_an_unknown_cost(setting: Setting, cases: list[Case], fault: Fault) -> None:
    setting.writer.fail(*[fault] * len(cases))
    run = generate(setting, cases, Asked(("one",), seed=70 + fault.half_counted))
    assert {answer.usage.cost_usd for answer in run.answers()} == {None}


@pytest.mark.rule("pages-cache")
def test_stored_answers_are_never_paid_for_twice(setting: Setting, cases: list[Case]) -> None:
    first = generate(setting, cases, Asked(("one",), 2, (1,), 42))
    again = generate(setting, cases, Asked(("one",), 2, (1,), 42))
    more = generate(setting, cases, Asked(("one", "other"), 3, (1, 3), 42), case_set="another name")
    assert again.name == first.name != more.name
    assert len(setting.writer.requests) == 4 + 2 + 6
    known = {answer.key: answer.cached for answer in more.answers()}
    assert sum(known.values()) == 4 and known["pier", "one", 0] and not known["pier", "one", 2]


@pytest.mark.rule("pages-cache")
def test_cases_with_the_same_prompt_share_their_answers(setting: Setting, cases: list[Case], tmp_path: Path) -> None:
    make_case(tmp_path / "cases" / "twin", prompt=cases[0].prompt)
    run = generate(setting, load_cases(tmp_path / "cases"), Asked(("one",), 2, seed=1))
    assert len(setting.writer.requests) == 4 and len(run.answers()) == 6


@pytest.mark.rule("locks")
def test_a_case_of_two_sets_is_not_asked_by_two_runs_at_once(setting: Setting, cases: list[Case]) -> None:
    refused: list[str] = []

    def heard() -> None:
        setting.writer.heard = lambda: None
        try:
            generate(setting, cases[:1], Asked(("one",)), case_set="first")
        except UserError as error:
            refused.append(str(error))

    setting.writer.heard = heard
    generate(setting, cases, Asked(("one",)), case_set="both", jobs=1)
    assert len(refused) == 1 and len(setting.writer.requests) == 2


@pytest.mark.rule("locks")
def test_two_runs_do_not_ask_one_model_for_the_same_answers(setting: Setting, cases: list[Case]) -> None:
    """Another model may be asked meanwhile; existing answers need no lock."""
    refused: list[str] = []

    def heard() -> None:
        setting.writer.heard = lambda: None
        generate(setting, cases, Asked(("other",), 2, seed=1))
        try:
            generate(setting, cases, Asked(("one", "other"), 3, seed=1))
        except UserError as error:
            refused.append(str(error))

    setting.writer.heard = heard
    generate(setting, cases, Asked(("one",), 2, seed=1), jobs=1)
    assert len(refused) == 1 and "one is under way" in refused[0]
    assert len(setting.writer.requests) == 8
    with setting.store.lock("pages-ask", "one"):
        generate(setting, cases, Asked(("one",), 2, seed=1))
    generate(setting, cases, Asked(("one", "other"), 3, seed=1))
    assert len(setting.writer.requests) == 8 + 4


@pytest.mark.rule("pages-cache")
def test_a_case_of_two_sets_is_asked_once(setting: Setting, cases: list[Case]) -> None:
    generate(setting, cases, Asked(("one",)), case_set="both")
    assert len(setting.writer.requests) == 2
    run = generate(setting, cases[:1], Asked(("one",)), case_set="first")
    assert len(setting.writer.requests) == 2 and [answer.cached for answer in run.answers()] == [True]


def test_greedy_samples_are_answers_of_their_own(setting: Setting, cases: list[Case]) -> None:
    """A campaign's gateway caches greedy requests, and gave all samples of a case the first one's answer."""
    run = generate(setting, cases, Asked(("one",), 3, temperature=0), case_set="greedy")
    assert len(setting.writer.requests) == 6
    booked = [row for row in requests(setting.store.ledger) if row.repo == "greedy"]
    assert [row.status for row in booked] == [OK] * 6 and len({row.answer for row in booked}) == 6
    assert sum(row.cost_usd for row in booked) == sum(page.usage.cost_usd for page in run.answers())


@pytest.mark.parametrize(
    "change", [{"seed": 7}, {"temperature": 0.1}, {"system": "Be brief."}, {"max_tokens": 99}, {"fresh": True}], ids=str
)
def test_every_setting_that_affects_an_answer_asks_again(
    change: dict[str, Any], setting: Setting, cases: list[Case]
) -> None:
    how = {"models": ("one",), "samples": 1, "seed": 42}
    generate(setting, cases, Asked(**how))
    generate(setting, cases, Asked(**how | change))
    assert len(setting.writer.requests) == 4


def test_fresh_answers_are_requested_each_time_and_overwrite_none(setting: Setting, cases: list[Case]) -> None:
    runs = [generate(setting, cases, Asked(("one",), fresh=True)) for _ in range(2)]
    assert runs[0].name != runs[1].name and len(setting.writer.requests) == 4
    assert len(runs[0].answers()) == len(runs[1].answers()) == 2


@pytest.mark.rule("provider-failure")
def test_answers_that_a_provider_failed_to_give_are_requested_again(setting: Setting, cases: list[Case]) -> None:
    setting.writer.fail(*[Fault(status=400)])
    run, owed = generation(setting, cases, Asked(("one",)), jobs=1).generate()
    assert list(owed.values()) == ["configuration"] and len(run.answers()) == 1
    assert len(generate(setting, cases, Asked(("one",))).answers()) == 2
    assert len(setting.writer.requests) == 3


def test_a_reached_budget_stops_requests(setting: Setting, cases: list[Case]) -> None:
    run, owed = generation(setting, cases, Asked(("one",), 3), jobs=1, budget=Decimal("0.0001")).generate()
    assert set(owed.values()) == {"budget_exceeded"} and len(run.answers()) < 6
    assert len(generate(setting, cases, Asked(("one",), 3), budget=Decimal(1000)).answers()) == 6


def test_the_page_in_an_answer_is_taken_out_and_the_answer_kept(setting: Setting, cases: list[Case]) -> None:
    setting.writer.text = lambda word, seed: f"Here:\n```html\n<!DOCTYPE html><html><h1>{word}</h1></html>\n```"
    run = generate(setting, cases, Asked(("one",)))
    assert run.page(run.answers()[0]) == "<!DOCTYPE html><html><h1>pier</h1></html>"


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("wrapped", ["{}", "Here:\r\n```html\r\n{}\r\n```\r\n"])
def test_a_page_keeps_its_line_ends(setting: Setting, cases: list[Case], wrapped: str) -> None:
    """They became those of Unix."""
    page = '<!doctype html>\r\n<html lang="en">\r\n<body>a</body>\r\n</html>'
    maker = generation(setting, cases[:1], Asked(("one",), seed=len(wrapped)))
    run, _ = maker.generate()
    (answer,) = run.answers()
    (maker.unit(run, answer.key).folder / "reply.txt").write_bytes(wrapped.format(page).encode())
    maker._write(run)
    (answer,) = run.answers()
    assert (run.folder / answer.html).read_bytes() == page.encode()
    assert run.page(answer) == page and digest(page) == answer.digest


def test_an_impossible_run_is_refused_before_anything_is_written(
    setting: Setting, cases: list[Case], tmp_path: Path
) -> None:
    store = Store(tmp_path / "data")
    refused = {
        "unknown model": (Asked(("none",)), {}),
        r"pass@5 needs": (Asked(("one",), 2, (1, 5)), {}),
        "needs the environment variable": (Asked(("one",)), {"environ": {}}),
    }
    for message, (asked, how) in refused.items():
        with pytest.raises(UserError, match=message):
            generation(setting._replace(store=store), cases, asked, **how)
    assert not store.root.exists()


def test_a_name_belongs_to_one_run(setting: Setting, cases: list[Case]) -> None:
    run = generate(setting, cases, Asked(("one",)), run=f"named-{cases[0].digest[:8]}")
    assert generate(setting, cases, Asked(("one",)), run=run.name).name == run.name
    with pytest.raises(UserError, match="a different run has this name"):
        generation(setting, cases, Asked(("other",)), run=run.name).generate()
    for reserved in ("kept", "Kept", "opinions"):
        with pytest.raises(UserError, match="cannot name a run"):
            generation(setting, cases, Asked(("other",)), run=reserved).generate()
    assert load_run(setting.store, run.name).asked == run.asked


@pytest.mark.rule("resume")
def test_an_interrupted_run_writes_its_answers(setting: Setting, cases: list[Case]) -> None:
    """They were paid for, but `pages eval` saw none of them."""

    def heard() -> None:
        setting.writer.heard = lambda: None
        os.kill(os.getpid(), signal.SIGINT)

    setting.writer.heard, name = heard, f"interrupted-{cases[0].digest[:8]}"
    with pytest.raises(KeyboardInterrupt):
        generation(setting, cases, Asked(("one",), 9, seed=1), run=name, jobs=1).generate()
    assert 0 < len(load_run(setting.store, name).answers()) == len(setting.writer.requests) < 18


def test_files_of_a_run_killed_at_its_start_are_not_cases(setting: Setting, cases: list[Case]) -> None:
    name = f"begun-{cases[0].digest[:8]}"
    make_case(setting.store.pages(name) / "cases" / "pier", prompt="Another prompt.").folder.joinpath("old.js").touch()
    run = load_run(setting.store, generate(setting, cases, Asked(("one",)), run=name).name)
    assert [case.digest for case in run.cases] == [case.digest for case in cases]


def test_a_complete_named_run_of_fresh_answers_sends_no_request(
    setting: Setting, cases: list[Case], capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"fresh-{cases[0].digest[:8]}"
    for _ in range(2):
        generate(setting, cases, Asked(("one",), fresh=True), run=name)
    assert len(setting.writer.requests) == 2
    assert capsys.readouterr().err.count(f"{name} has all its answers: give another --run for new ones") == 1


# -- killed ------------------------------------------------------------------------------------------------------------
def _nursery(line: Any, arguments: tuple[Any, ...]) -> None:
    """A process without threads, whose children generate: since they are forked, they import nothing. Reports how each
    ended."""
    while line.recv():
        child = os.fork()
        if not child:
            _generate(*arguments)
            os._exit(0)
        line.send(child)
        line.send(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _generate(
    base_url: str, gateway_id: str, store: Path, models: Path, environ: dict[str, str], cases: Path, name: str
) -> None:
    """Generate through a gateway in another process."""
    opened, listed = Store(store), load_models(models)
    gateway = EmbeddedGateway(listed, Ledger(opened.ledger), environ)
    gateway.base_url, gateway.id = base_url, gateway_id
    asked = Asked(("one", "other"), 3, (1,), 42)
    how = {"models": models, "environ": environ, "gateway": gateway, "jobs": 1, "run": name}
    Generation(opened, "killed", load_cases(cases), asked, **how).generate()


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.html"))}


@pytest.mark.rule("resume")
def test_a_run_killed_at_ten_points_has_the_same_pages_paid_once(setting: Setting, cases: list[Case]) -> None:
    folder = cases[0].folder.parent
    asked = Asked(("one", "other"), 3, (1,), 42)
    name = f"killed-{cases[0].digest[:6]}-{os.getpid()}"
    gateway = (setting.gateway.base_url, setting.gateway.id)
    arguments = (*gateway, setting.store.root, setting.models, setting.environ, folder, name)
    context = get_context("spawn")
    line, other = context.Pipe()
    nursery = context.Process(target=_nursery, args=(other, arguments), daemon=True)
    nursery.start()
    children: list[int] = []
    for _ in range(10):
        before = len(setting.writer.requests)

        def heard(before: int = before) -> None:
            if len(setting.writer.requests) > before:  # the second request of this try
                os.kill(children[-1], signal.SIGKILL)

        setting.writer.heard = heard
        line.send(True)
        children.append(line.recv())
        assert line.recv() == -signal.SIGKILL
    line.send(False)
    setting.writer.heard = lambda: None
    run = generate(setting, cases, asked, run=name, case_set="killed")
    assert len(setting.writer.requests) == 12 + 10  # the one in flight is lost with its process
    undisturbed = generate(setting, cases, Asked(("one", "other"), 3, (1,), 42, fresh=True), case_set="undisturbed")
    assert _files(run.folder) == _files(undisturbed.folder)
    assert [answer.digest for answer in run.answers()] == [answer.digest for answer in undisturbed.answers()]
