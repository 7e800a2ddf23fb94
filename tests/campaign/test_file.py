"""What a campaign's file may contain, and its errors, with file, line and field."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from factories import make_instance

from pipeline.campaign.file import Campaign, load_campaign, names_of, subset_of
from pipeline.core.errors import UserError
from pipeline.core.store import Store, write_bytes, write_records
from pipeline.dataset.lock import lock

GOOD = """\
name = "friday"
models = ["GLM-4.6"]
budget = 12.5

[[datasets]]
repo = "acme/ui"
instances = "lite"
filter = { statement_source = ["issue"], merged_from = "2024-01-01" }

[[agents]]
agent = "magentless"

[[agents]]
agent = "magentless"
name = "greedy"
models = ["gpt-5"]
attempts = 2
"""


def load(folder: Path, text: str) -> Campaign:
    path = folder / "campaign.toml"
    path.write_text(text)
    return load_campaign(path)


def test_a_file_is_read(tmp_path: Path) -> None:
    campaign = load(tmp_path, GOOD)
    assert (campaign.name, campaign.budget, campaign.attempts) == ("friday", Decimal("12.5"), 1)
    agents = [(agent.name, agent.models, agent.attempts) for agent in campaign.agents]
    assert agents == [("", (), None), ("greedy", ("gpt-5",), 2)]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("old", "new", "line", "field", "message"),
    [
        ('name = "friday"', "name = friday", 1, None, "invalid TOML"),
        ("budget = 12.5", "bugdet = 12.5", 3, "bugdet", "there is no such field"),
        ("budget = 12.5", "budget = -1", 3, "budget", "'-1' is not an amount"),
        ("budget = 12.5", 'budget = "1E+999999"', 3, "budget", "is not an amount"),
        ("attempts = 2", "attempts = true", 17, "agents[1].attempts", "a valid integer"),
        ("attempts = 2", 'filter_tests = "no"', 17, "agents[1].filter_tests", "a valid boolean"),
        ("attempts = 2", "attempts = 0", 17, "agents[1].attempts", "greater than 0"),
        ("attempts = 2", f"attempts = {10**23}", 17, "agents[1].attempts", "less than or equal to 10000"),
        ('name = "greedy"\n', "", 13, "agents[1].name", "magentless is listed twice"),
        ('name = "greedy"', 'settings = "none.toml"\nname = "g"', 15, "agents[1].settings", "no such file"),
        ('name = "greedy"', 'settings = "."\nname = "g"', 15, "agents[1].settings", "not a file"),
        ('name = "greedy"', 'name = "x/y"', 15, "agents[1].name", "'x/y' cannot name settings"),
        ('repo = "acme/ui"', 'lock = "none.jsonl"', 6, "datasets[0].lock", "no such file"),
        (
            'repo = "acme/ui"',
            'lock = "campaign.toml"\nclone = "none"',
            7,
            "datasets[0].clone",
            "no such file or folder",
        ),
        ('repo = "acme/ui"', 'repo = "acme/ui"\nclone = "."', 5, "datasets[0]", "clone, .* have no effect"),
        ('repo = "acme/ui"', 'repo = "acme/ui"\ngithub = true', 5, "datasets[0]", "github .* have no effect"),
        ("[[agents]]", '[evaluate]\njudge = "m"\n[[agents]]', 10, "evaluate", "`assess` includes no judge"),
        ('repo = "acme/ui"', f'lock = "{"a" * 300}"', 6, "datasets[0].lock", "no such file"),
        ('repo = "acme/ui"', 'lock = "~nobody-here/x"', 6, "datasets[0].lock", "no such file or folder: .*/~nobody"),
        ("budget = 12.5", 'model_list = "~nobody-here/x"', 3, "model_list", "no such file: .*/~nobody-here/x"),
        ("budget = 12.5", 'model_list = "none.yaml"', 3, "model_list", "no such file: .*/none.yaml"),
        ('instances = "lite"', "instances = []", 7, "datasets[0].instances", "it selects no instance"),
        ('instances = "lite"', "pr = []", 7, "datasets[0].pr", "it selects no instance"),
        ("[[agents]]", '[[pages]]\ncases = "none"\n[[agents]]', 11, "pages[0].cases", "no such file or folder"),
        ('repo = "acme/ui"', "", 5, "datasets[0]", "either repo or lock is expected"),
        ('models = ["GLM-4.6"]', "", 10, "agents[0].models", "no model is named"),
        (
            'statement_source = ["issue"]',
            'source = ["issue"]',
            8,
            "datasets[0].filter.source",
            "there is no such field",
        ),
        ('"2024-01-01"', '"2024-1-1"', 8, "datasets[0].filter.merged_from", "'2024-1-1' is not a date"),
        ('"2024-01-01"', '"2024-02-30"', 8, "datasets[0].filter.merged_from", "'2024-02-30' is not a date"),
        ('"2024-01-01"', '"01.01.2024"', 8, "datasets[0].filter.merged_from", "is not a date like 2024-05-31"),
        ("[[datasets]]", "[datasets]", 5, "datasets", "a list of tables is expected\n  write \\[\\[datasets"),
        ('repo = "acme/ui"', 'lock = "."', 6, "datasets[0].lock", "not a file"),
        ('"2024-01-01"', "2024-01-01T00:00:00Z", 8, "datasets[0].filter.merged_from", "a valid string"),
    ],
)
def test_a_mistake_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, line: int, field: str | None, message: str
) -> None:
    assert old in GOOD
    with pytest.raises(UserError, match=message) as error:
        load(tmp_path, GOOD.replace(old, new, 1))
    assert (error.value.path, error.value.line, error.value.field) == (tmp_path / "campaign.toml", line, field)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("budget = 12.5", "bugdet = 12.5", "available: name, models, .*see docs/campaigns.md"),
        ("budget = 12.5", 'budget = "12 USD"', "see docs/campaigns.md"),
        ("[[agents]]", '[[pages]]\ncases = "none"\n[[agents]]', ".* a relative path begins at the folder of this file"),
        (
            "[[agents]]",
            "[[pages]]\nk = [1, 5]\nmodels = ['m']\n[[agents]]",
            "the run has 1 sample; give more with samples",
        ),
    ],
)
def test_a_hint_is_about_the_file(tmp_path: Path, old: str, new: str, hint: str) -> None:
    """A wrong value was answered with a list of fields, and too few samples with an option of the command."""
    with pytest.raises(UserError) as error:
        load(tmp_path, GOOD.replace(old, new, 1))
    assert re.fullmatch(hint, str(error.value.hint))


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("text", ["", 'models = ["m"]\n[[agents]]\n'])
def test_a_file_without_work_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError):
        load(tmp_path, text)


@pytest.mark.parametrize("day", ["2024-05-31", '"2024-05-31"'])
def test_a_day_is_a_text_or_a_date_of_toml(tmp_path: Path, day: str) -> None:
    """Pull requests merged on the first or the last day are included."""
    text = f'models = ["m"]\n[[datasets]]\nrepo = "acme/ui"\nfilter = {{ merged_from = {day}, merged_until = {day} }}\n'
    (dataset,) = load(tmp_path, text).datasets
    merged = {day: make_instance(merged_at=f"{day}T23:59:59Z") for day in ("2024-05-30", "2024-05-31", "2024-06-01")}
    assert [day for day, instance in merged.items() if dataset.filter.admits(instance)] == ["2024-05-31"]


def test_instances_by_a_named_subset_and_a_filter(tmp_path: Path) -> None:
    store, (dataset,) = Store(tmp_path / "data"), load(tmp_path, GOOD).datasets
    write_bytes(store.subset("lite"), b"acme/ui#1\nacme/ui#2\nacme/ui#3\n")
    built = [
        make_instance(1, merged_at="2024-03-01T00:00:00Z"),
        make_instance(2, merged_at="2023-03-01T00:00:00Z"),
        make_instance(3, merged_at="2024-03-01T00:00:00Z", statement_source="pull_request"),
        make_instance(4, merged_at="2024-03-01T00:00:00Z"),
    ]
    assert [instance.number for instance in subset_of(store, dataset, tmp_path, built).of(built)] == [1]


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("form", ["a list", "a text"])
def test_any_number_of_instances_may_be_named(tmp_path: Path, form: str) -> None:
    names = tuple(f"acme__ui-{number}" for number in range(1000, 1400))
    value = json.dumps(names if form == "a list" else ",".join(names))
    text = f'models = ["m"]\n[[datasets]]\nrepo = "acme/ui"\ninstances = {value}\n'
    (dataset,) = load(tmp_path, text).datasets
    assert names_of(Store(tmp_path / "data"), dataset, tmp_path) == names


@pytest.mark.parametrize(
    ("further", "numbers"),
    [("", [1, 3]), ("limit = 1", [1]), ('instances = ["acme/ui#2", "acme/ui#3"]', [3]), ("pr = [1, 2]", [1])],
)
def test_a_list_limits_the_selected_instances(tmp_path: Path, further: str, numbers: list[int]) -> None:
    """A repository may have been built with more pull requests than its list has."""
    built = [make_instance(number) for number in (1, 2, 3, 4)]
    write_records(tmp_path / "ui.jsonl", [lock(instance) for instance in built[::2]])
    (dataset,) = load(tmp_path, f'models = ["m"]\n[[datasets]]\nlock = "ui.jsonl"\n{further}\n').datasets
    selected = subset_of(Store(tmp_path / "data"), dataset, tmp_path, built).of(built)
    assert [instance.number for instance in selected] == numbers


def test_a_selection_outside_the_list_is_refused(tmp_path: Path) -> None:
    built = [make_instance(number) for number in (1, 2)]
    write_records(tmp_path / "ui.jsonl", [lock(built[0])])
    (dataset,) = load(tmp_path, 'models = ["m"]\n[[datasets]]\nlock = "ui.jsonl"\npr = [2]\n').datasets
    with pytest.raises(UserError, match="no instance is selected") as error:
        subset_of(Store(tmp_path / "data"), dataset, tmp_path, built).of(built)
    assert "match no built instance; loosen one of them" in str(error.value.hint)


@pytest.mark.rule("bad-input")
def test_an_error_in_a_list_mentions_the_list(tmp_path: Path) -> None:
    """A file has no tuples, even though Python makes one of the list."""
    (tmp_path / "c.toml").write_text("models = 3\n")
    with pytest.raises(UserError, match="field 'models': Input should be a list"):
        load_campaign(tmp_path / "c.toml")
