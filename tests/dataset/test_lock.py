"""The published list: the same bytes every time, all facts that distinguish two datasets, and nobody's text."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from factories import FIX_PATCH, TEST_PATCH, make_environment, make_instance
from hypothesis import given, settings
from hypothesis import strategies as st
from leaks import ADDED
from tiny_library import QUALIFIED, Bench

from pipeline.core.names import Repo, parse_instance_id
from pipeline.core.records import Edit
from pipeline.core.store import read_records
from pipeline.dataset.lock import NO_FACTS, Lock, facts, lines, lock, transitions

#: the lists that the project publishes
PUBLISHED = sorted((Path(__file__).parents[2] / "data" / "locks").glob("*.jsonl"))
TESTS = {"a.test.ts": "NFP", "a.test.ts > opens": "NNP", "a.test.ts > g > h": "PFP", "b.test.ts > opens": "PPP"}


@pytest.mark.rule("lists-not-datasets")
def test_an_entry_contains_facts_and_digests() -> None:
    entry = lock(make_instance(tests=TESTS | {"a.test.ts > g > h": "PFP snapshot"}))
    assert (entry.base, entry.merge, entry.statement_source) == ("b" * 40, "c" * 40, "issue")
    assert entry.fix_patch == hashlib.sha256(FIX_PATCH.encode()).hexdigest()
    assert entry.test_patch == hashlib.sha256(TEST_PATCH.encode()).hexdigest()
    assert (entry.node, entry.manager, entry.runner) == ("20.19.5", "npm 10.8.2", "jest 29.7.0")
    assert entry.tests == {
        "a.test.ts": {"NFP": ("",), "PFP snapshot": ("g > h",), "NNP": ("opens",)},
        "b.test.ts": {"PPP": ("opens",)},
    }
    assert transitions(entry.tests) == TESTS | {"a.test.ts > g > h": "PFP snapshot"}


@pytest.mark.rule("lists-not-datasets")
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(
    st.dictionaries(
        st.lists(st.sampled_from(["a.test.ts", "b.ts", "", " ", ">", "menu", "a > b"]), min_size=1, max_size=4)
        .map(" > ".join)
        .filter(str.strip),
        st.sampled_from(["PFP", "PFP snapshot", "NFP", "NNP", "PPP", "SSP"]),
        min_size=1,
        max_size=6,
    )
)
def test_an_entry_lists_every_expected_test_by_name(tests: dict[str, str]) -> None:
    """A test without a title used to be listed as its file; tests that fail only by their snapshot are marked."""
    instance = make_instance(tests=tests)
    listed = transitions(lock(instance).tests)
    assert listed == {name: kind for name, kind in tests.items() if name in instance.expected}
    again = Lock.model_validate_json(lines([instance]))
    assert facts(again) == facts(lock(instance))


def test_a_reworked_statement_is_a_digest() -> None:
    """Reviewers quote other people's texts, which are not published; the digest still tells two statements apart."""
    text = "Arrow keys do not move the focus."
    entry = lock(make_instance(statement_source="review", statement=text))
    assert entry.statement == hashlib.sha256(text.encode()).hexdigest() and text not in entry.model_dump_json()
    assert facts(entry)["statement"] == entry.statement and lock(make_instance(statement=text)).statement == ""


@pytest.mark.rule("lists-not-datasets")
def test_an_entry_contains_no_text_of_other_people(tiny: Bench) -> None:
    """Datasets contain other people's code, so the project publishes lists."""
    instances = [tiny.instance(name) for name in QUALIFIED]
    text = lines(instances).decode()
    assert not any(
        line in text for instance in instances for line in ADDED.findall(instance.fix_patch + instance.test_patch)
    )
    assert not any(said in text for instance in instances for said in (instance.title, "diff --git"))


@pytest.mark.rule("lists-not-datasets")
def test_the_same_dataset_gives_the_same_bytes() -> None:
    """Sorted by number, not as text, whatever the order of the instances and their tests."""
    ordered = [make_instance(number, tests=TESTS) for number in (2, 10)] + [make_instance(1, Repo("acme", "z"))]
    mixed = [ordered[2], make_instance(10, tests=dict(reversed(TESTS.items()))), ordered[0]]
    assert lines(mixed) == lines(ordered)
    assert [json.loads(line)["instance_id"] for line in lines(mixed).splitlines()] == [
        "acme__ui-2",
        "acme__ui-10",
        "acme__z-1",
    ]


def test_every_field_is_a_fact() -> None:
    repaired = make_environment(edits=(Edit(kind="pin", name="dep", old="1.x", new="1.2.3"),), rebuild=("sass",))
    quarantine = {"c": {"run": {"PASSED": 1, "FAILED": 1}}}
    instance = make_instance(tests=TESTS, quarantine=quarantine, files=("y", "x"), environment=repaired)
    found = facts(lock(instance))
    assert {name.partition(":")[0] for name in found} == {*Lock.model_fields} - set(NO_FACTS) | {"test"}
    assert NO_FACTS == ("schema_version", "tool", "tests", "proposed")
    assert found["test: a.test.ts > opens"] == "NNP"
    listed = {"files: x", "files: y", "quarantine: c", "repairs: pin dep 1.x 1.2.3", "repairs: rebuild sass"}
    assert {name for name, value in found.items() if value == "listed"} == listed


@pytest.mark.rule("lists-not-datasets")
def test_published_files_are_lists_without_patches() -> None:
    """One repository each, in order, and nothing that looks like a patch."""
    for path in PUBLISHED:
        ids = [parse_instance_id(entry.instance_id) for entry in read_records(path, Lock)]
        assert ids == sorted(set(ids)) and {repo.slug for repo, _ in ids} == {path.stem}
        assert b"diff --git" not in path.read_bytes()
