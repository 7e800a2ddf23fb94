"""The report as a file: structure, access, escaping. It is read with a parser, not with patterns."""

from __future__ import annotations

import base64
import hashlib
import re
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from analyze.conftest import HOSTILE, UI, add_run, add_verdicts, collect, each_with_instances_of_its_own
from bs4 import BeautifulSoup
from factories import make_instance, make_prediction, make_verdict

from pipeline import analyze
from pipeline.analyze.report import first
from pipeline.analyze.report.pages import pages
from pipeline.analyze.report.summary import check, facts
from pipeline.core.store import Store, write_records
from pipeline.report.page import counted


def parsed(report: Path) -> BeautifulSoup:
    return BeautifulSoup(report.read_text(encoding="utf-8"), "html.parser")


@pytest.fixture(scope="module")
def page(analyzed) -> BeautifulSoup:
    return parsed(analyzed.store.analysis / "report.html")


def words(tag) -> str:
    return " ".join(tag.get_text(" ", strip=True).split())


# -- structure ---------------------------------------------------------------------------------------------------------
def test_language_title_skip_link_and_landmarks(page):
    assert page.html["lang"] == "en"
    assert page.title.string == "A11y-Bench report: acme/forms, acme/ui"
    assert page.find(id=page.select_one("a.skip")["href"].removeprefix("#")).name == "main"
    assert len(page.find_all("main")) == len(page.find_all("h1")) == 1


def test_chapters_are_the_seeds_four_analyses_and_the_instances(page):
    chapters = [words(heading) for heading in page.select(".overview > section > h2")]
    assert chapters == [
        "At a glance",
        "What is missing",
        "Dataset",
        "Cost",
        "Models",
        "Repositories",
        "Provenance",
        "Instances",
    ]


def test_models_agents_and_answers_are_counted_apart():
    """Three models with two agents were counted as six models, and second attempts were left out."""
    pairs = [(f"agent-{agent}", f"model-{model}") for agent in "ab" for model in "xyz"]
    rows = [{"agent": agent, "model": model, "predicted": True, "judged": True} for agent, model in pairs]
    none = pd.DataFrame()
    samples = [
        {"agent": agent, "model": model, "instance_id": "acme__ui-1", "attempt": number, "answered": True}
        for agent, model in pairs
        for number in (1, 2)
    ]
    frames = SimpleNamespace(
        of_models=pd.DataFrame(rows),
        given_samples=pd.DataFrame(samples),
        repos=none,
        candidates=none,
        instances=none,
        costs=none,
    )
    assert facts(frames, {}) == [("models", "3"), ("agents", "2"), ("answers", "12")]


def test_the_top_says_what_was_spent_as_the_tables_do(page):
    """It said 0.33 USD where it was 0.334, 0.00 where it was 0.002, and called it the cost, which is that of the
    answers in the tables."""
    top = page.header.select_one(".facts")
    values = dict(zip(map(words, top.find_all("dt")), map(words, top.find_all("dd")), strict=True))
    table = page.select_one("#table-usage").find_next("tfoot")
    assert "cost" not in values
    spent = [Decimal(words(cell)) for cell in table.find_all("td") if "." in words(cell)]
    assert values["spent"] == f"{sum(spent)} USD"


def test_headings_skip_no_level(page):
    levels = [int(heading.name[1]) for heading in page.find_all(["h1", "h2", "h3", "h4"])]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))


def test_tables_have_names_scopes_and_a_region_to_scroll(page):
    for table in page.find_all("table"):
        assert table.caption or page.find(id=table["aria-labelledby"])
        assert all(cell.get("scope") in ("col", "row") for cell in table.find_all("th"))
        assert (table.parent["role"], table.parent["tabindex"]) == ("region", "0")


def test_every_column_of_a_table_is_explained(page):
    for table in page.select("section > .body table"):
        heads = [words(head) for head in table.thead.find_all("th")]
        terms = table.find_parent(class_="data").select("details.meaning dt")
        assert [words(term) for term in terms] == heads


def test_identifiers_and_region_names_are_unique(page):
    identifiers = [tag["id"] for tag in page.select("[id]")]
    regions = [tag["aria-label"] for tag in page.select("[role=region]")]
    assert len(identifiers) == len(set(identifiers))
    assert len(regions) == len(set(regions))
    assert all(page.find(id=tag["aria-labelledby"]) for tag in page.select("[aria-labelledby]"))
    assert all(page.find(id=link["href"].removeprefix("#")) for link in page.select("a[href]"))


def test_figures_have_a_text_alternative(page):
    figures = {words(figure.figcaption): figure.img["alt"] for figure in page.find_all("figure")}
    assert "lab/model-b: 2 of 4 (50.0%)" in figures["Resolved instances by model"]
    assert all(len(alternative) > 40 for alternative in figures.values())


# -- what must not happen ----------------------------------------------------------------------------------------------
def test_the_report_is_one_file_and_loads_nothing(page):
    assert not page.find_all(["link", "iframe"]) and not page.select("script[src]")
    assert all(image["src"].startswith("data:") for image in page.find_all("img"))


@pytest.mark.invariant(5)
def test_only_the_reports_own_script_and_style_may_run(page):
    """Invariant 5: the policy names two digests, so a browser refuses anything else that a text might contain."""
    policy = page.find("meta", attrs={"http-equiv": True})["content"]
    assert policy.startswith("default-src 'none'; img-src data:; ") and "unsafe" not in policy
    for name in ("script", "style"):
        (tag,) = page.find_all(name)
        digest = base64.b64encode(hashlib.sha256(tag.string.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not page.select("[style], [onclick]")


@pytest.mark.invariant(5)
def test_text_of_repositories_and_models_is_escaped(page):
    """Invariant 5: text from models and repositories never runs, not even in a reader's browser."""
    code = [code.get_text() for code in page.select("pre code")]
    assert sum(HOSTILE in text for text in code) == 2
    assert HOSTILE in page.find(id="acme__ui-3").h2.get_text()


# -- the page of an instance -------------------------------------------------------------------------------------------
def test_an_instance_shows_issue_patches_tests_and_verdicts(page):
    article = page.find("article", id="acme__ui-1")
    assert [words(heading) for heading in article.find_all(["h2", "h3", "h4"])] == [
        "acme/ui#1: Add aria-label to Menu",
        "Issue",
        "#101: Menu has no name",
        "Gold patch",
        "Tests",
        "Attempts",
    ]
    assert "2 change, 1 pass throughout." in words(article)
    assert [words(summary) for summary in article.find_all("summary")] == [
        "lab/model-b (magentless): R resolved on acme__ui-1",
        "model-a (magentless): R resolved on acme__ui-1",
        "oracle, a reference: checks the dataset: R resolved on acme__ui-1",
    ]


def test_an_attempt_shows_its_funnel_tests_and_cost(page):
    attempt = page.find("article", id="acme__ui-1").find_all("details")[1]
    text = words(attempt)
    assert "Funnel: located 3, selected 1." in text
    assert "Fixed (1): src/Menu.test.tsx > Menu > has a name" in text
    assert "cost 0.10 USD" in text and "perfect (Jaccard 1.00)" in text
    assert text.endswith("The answer is the gold patch, as above.") and not attempt.find("pre")


def test_the_patch_of_a_model_is_shown_if_it_differs_from_gold(page):
    attempts = page.find("article", id="acme__ui-3").find_all("details")
    assert "+export const Menu" in attempts[-1].find("ins").get_text()
    assert (
        page.find("article", id="acme__ui-2").find_all("details")[-1].find_all("p")[-1].string
        == "The answer changes nothing."
    )


def test_the_list_shows_the_outcome_of_every_model(page):
    rows = {
        words(row.th.a): [f"{cell['data-mark']} {words(cell)}" for cell in row.find_all("td")[5:]]
        for row in page.select("#list tbody tr")
    }
    assert rows == {
        "acme__forms-1": ["R resolved", "– not evaluated"],
        "acme__ui-1": ["R resolved", "R resolved"],
        "acme__ui-2": ["– not evaluated", "E empty"],
        "acme__ui-3": ["– not evaluated", "U unresolved"],
    }


def test_an_outcome_is_in_the_column_of_its_model(tmp_path):
    """Rows were as long as the list of models that were asked about the instance, so one model showed another's
    outcome."""
    store = Store(tmp_path / "data")
    each_with_instances_of_its_own(store)
    frames = analyze.load(store)
    page = BeautifulSoup(first(frames, pages(frames), analyze.tables(frames), []), "html.parser")
    heads = [words(head) for head in page.select("#list thead th")][6:]
    rows = {
        words(row.th.a): dict(zip(heads, map(words, row.select("td.end")), strict=True))
        for row in page.select("#list tbody tr")
    }
    assert rows == {
        "acme__ui-1": {"model-a (magentless)": "", "model-b (magentless)": "unresolved"},
        "acme__ui-2": {"model-a (magentless)": "resolved", "model-b (magentless)": ""},
    }


def test_a_table_shows_the_names_of_models_as_they_are(tmp_path):
    """Underscores were shown as blanks, except in the list of instances."""
    store, (prediction,) = Store(tmp_path / "data"), [make_prediction(1, model_name_or_path="gpt_4o")]
    write_records(store.dataset(UI), [make_instance(1)])
    add_run(store, UI, [prediction])
    add_verdicts(store, UI, [make_verdict(prediction)])
    frames = analyze.load(store)
    page = BeautifulSoup(first(frames, pages(frames), analyze.tables(frames), []), "html.parser")
    assert words(page.select_one("#table-leaderboard").find_next("tbody").th) == "gpt_4o"
    assert "statement source" in map(words, page.select_one("#table-classes").find_next("tbody").find_all("th"))


def test_the_top_says_what_the_references_show(page):
    sentence = "The dataset is not wholly checked: oracle on 1 of 4 instances; nop on 0 of 4 instances."
    assert words(page.header.find(class_="check")) == sentence


def asked(oracle: str, nop: str) -> SimpleNamespace:
    """Two instances, and a letter for each result of a reference: resolved, unresolved, not evaluated."""
    rows = [(name, end != "n", end == "r") for name, ends in (("oracle", oracle), ("nop", nop)) for end in ends]
    predictions = pd.DataFrame(rows, columns=["agent", "evaluated", "resolved"])
    return SimpleNamespace(predictions=predictions, instances=range(2))


@pytest.mark.invariant(2)
@pytest.mark.parametrize(
    ("oracle", "nop", "state", "sentence"),
    [
        ("rr", "uu", "valid", "oracle (the gold patches) resolves 2 of 2 instances"),
        ("rr", "ur", "not valid", "nop (no patch at all) resolves 1 of 2 instances"),
        ("ru", "uu", "not valid", "oracle (the gold patches) resolves 1 of 2 instances"),
        ("un", "", "not valid", "oracle (the gold patches) resolves 0 of 1 evaluated instances"),
        ("rn", "uu", "not wholly checked", "oracle on 1 of 2 instances"),
        ("r", "uu", "not wholly checked", "oracle on 1 of 2 instances"),
        ("rr", "", "not wholly checked", "nop on 0 of 2 instances"),
        ("", "nn", "not wholly checked", "nop on 0 of 2 instances"),
    ],
)
def test_a_dataset_is_valid_when_oracle_resolves_all_and_nop_none(oracle, nop, state, sentence):
    """Invariant 2. A dataset of which no reference was evaluated, or on half of it, was called valid, and one whose
    engine failed not valid."""
    found = check(asked(oracle, nop))
    assert (found.state, found.is_valid) == (state, state == "valid") and sentence in found.sentences
    assert check(asked("", "")) is None


def test_an_instance_without_a_date_is_shown(store):
    """As those of other benchmarks; the report ended in an error of its template."""
    write_records(store.dataset(UI), [make_instance(1, merged_at=""), make_instance(2), make_instance(3)])
    frames = analyze.load(store)
    page = BeautifulSoup(first(frames, pages(frames), analyze.tables(frames), []), "html.parser")
    rows = {words(row.th.a): (row["data-year"], words(row.td)) for row in page.select("#list tbody tr")}
    assert (rows["acme__ui-1"], rows["acme__ui-2"]) == (("", "–"), ("2024", "2024-05-06"))
    terms = [[words(term) for term in page.find("article", id=f"acme__ui-{number}").select("dt")] for number in (1, 2)]
    assert ["merged" in some for some in terms] == [False, True]


@pytest.mark.parametrize("name", ["all", "reference"])
def test_a_model_may_have_the_name_of_a_mark(store, name):
    """A model `all` was among the totals, which nobody can sort, and a model `reference` was shown as one."""
    predictions = [make_prediction(number, model_name_or_path=name) for number in (1, 2)]
    add_run(store, UI, predictions)
    add_verdicts(store, UI, [make_verdict(prediction) for prediction in predictions])
    frames = analyze.load(store)
    page = BeautifulSoup(first(frames, pages(frames), analyze.tables(frames), []), "html.parser")
    rows = {words(row.th): row for row in page.select("table[aria-labelledby=table-leaderboard] tbody tr")}
    assert name in rows and "class" not in rows[name].attrs
    assert [words(foot.th) for foot in page.select("tfoot")] == ["all"] * len(page.select("tfoot"))


@pytest.mark.parametrize(("number", "noun", "sentence"), [(1, "file", "1 file"), (0, "file", "0 files")])
def test_nouns_agree_with_their_numbers(number, noun, sentence):
    assert counted(number, noun) == sentence
    assert counted(2, "repository") == "2 repositories"


def test_an_interval_is_drawn_where_it_is_known(page):
    bars = page.select("table[aria-labelledby=table-leaderboard] svg.bar")
    assert [bar.select_one(".share")["width"] for bar in bars] == ["50.0", "25.0"]
    assert bars[0].select_one(".ends")["d"] == "M15.0 4H85.0"
    assert all(bar["aria-hidden"] == "true" for bar in bars), "the numbers stand beside it"


def test_the_contents_lead_to_every_table(page):
    targets = [link["href"] for link in page.select("nav ul a")]
    assert targets == [
        f"#{heading['id']}" for heading in page.select(".overview h3") if heading["id"] != "table-leaderboard"
    ]


def test_the_report_lists_what_is_missing(tmp_path):
    store = Store(tmp_path)
    collect(store)
    page = parsed(analyze.write(analyze.load(store), store))
    assert "02 build: nothing yet for acme/ui." in page.find("section", attrs={"aria-labelledby": "missing"}).get_text()
    assert not page.find(id="instances")


# -- a large report ----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def apart(analyzed, tmp_path_factory) -> Path:
    """The same analysis with every instance in a file of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.analyze.report.TOGETHER", 0)
        return analyze.write(analyze.load(analyzed.store), analyzed.store, tmp_path_factory.mktemp("apart")).parent


def test_a_large_report_shows_the_files_of_its_figures(apart, page):
    """With 20 models, figures were half of its first page, which became larger than 3 MB."""
    first = parsed(apart / "report.html")
    images = {image["src"]: image["alt"] for image in first.find_all("img")}
    assert list(images.values()) == [image["alt"] for image in page.find_all("img")] and len(images) > 5
    assert all(re.fullmatch(r"figures/\w+\.svg", source) and (apart / source).is_file() for source in images)
    policy = first.find("meta", attrs={"http-equiv": True})["content"]
    assert "; img-src data: file: 'self'; " in policy


@pytest.mark.rule("report-for-everybody")
def test_a_large_report_has_a_file_for_each_instance(apart, page):
    first, names = parsed(apart / "report.html"), [element["id"] for element in page.find_all("article")]
    assert first.find_all("article") == [] and len(names) > 2
    links = [link["href"] for link in first.select("#list th a")]
    assert links == [f"instances/{name}.html" for name in names]
    for name in names:
        alone, together = parsed(apart / f"instances/{name}.html").find("article"), page.find("article", id=name)
        assert words(alone) == words(together)


def test_every_link_of_a_large_report_leads_somewhere(apart):
    for file in (apart / "instances").iterdir():
        links = [link["href"] for link in parsed(file).find_all("a") if not link["href"].startswith("#")]
        assert links[0] == "../report.html#instances"
        assert all((file.parent / link.partition("#")[0]).is_file() for link in links)
