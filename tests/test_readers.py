"""Every reader of a file that people may edit: anything in it is accepted, or refused with its location.

The files are bytes, any JSON, TOML or YAML, and valid files with a part replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import tomli_w
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.analyze.handcheck import sheet
from pipeline.analyze.handcheck.records import patch_key
from pipeline.analyze.reading import spent
from pipeline.build import overrides
from pipeline.campaign.file import load_campaign
from pipeline.collect.patterns import load_patterns
from pipeline.collect.selection import load_list
from pipeline.collect.sources.dataset import reading
from pipeline.core import clones, journal
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, CostRow, Funnel, Instance, Issue, Prediction, Verdict
from pipeline.core.run_record import RunRecord, read_run
from pipeline.core.store import Store, read_json, read_object, read_record, read_records
from pipeline.core.subset import read_names
from pipeline.core.texts import read_table, read_text, read_toml
from pipeline.core.vendors import VENDORS
from pipeline.dataset.rebuild import read_list
from pipeline.evaluate import foreign
from pipeline.evaluate.assess.settings import SHIPPED as ASSESSMENT
from pipeline.evaluate.assess.settings import load_settings
from pipeline.llm import spending
from pipeline.llm.ledger import Ledger
from pipeline.llm.models import load_models
from pipeline.llm.scripted import load_answers
from pipeline.pages.cases import load_case
from pipeline.pages.cli import file_of_models
from pipeline.pages.hybrid import suite as suites
from pipeline.predict.agents import Manifest, load_agent
from pipeline.predict.agents import _read as read_manifest
from pipeline.submission import bundle
from pipeline.triage import exchange

REPO = Repo("acme", "ui")
CORE = Path(read_text.__code__.co_filename).parent
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


class Reader(NamedTuple):
    """A reader of a file with this name; `like` is a file that it accepts, or a text; `fields` are names that it
    knows."""

    name: str
    read: Callable[[Path], object]
    like: Path | str = ""
    fields: tuple[str, ...] = ()


def _override(path: Path) -> object:
    return list(overrides.parse(read_text(path), path))


def _case(path: Path) -> object:
    (path.parent / "test.js").write_text("")
    return load_case(path.parent)


def _dataset(path: Path) -> object:
    found = list(reading.read(path, REPO))
    if wrong := [error for error in found if isinstance(error, UserError)]:
        raise wrong[0]
    return found


def _costs(path: Path) -> object:
    return spent._costs(Store(path.parent))


def _sums(path: Path) -> object:
    return spending._total_of_costs_file(Store(path.parent))


def _clones(path: Path) -> object:
    """The list of clones in the user's configuration."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(path.parents[1]))
        return clones._listed()


def _source(path: Path) -> object:
    return clones.adopt_clone_path(Store(path.parents[2]), REPO)


def _ledger(path: Path) -> object:
    ledger = Ledger(path)
    try:
        return ledger.rows()
    finally:
        ledger.close()


ONE_MODEL = """
model_list:
- model_name: one
  litellm_params: {model: openai/one, api_key: os.environ/KEY}
  model_info: {mode: chat, input_cost_per_token: "0.1", output_cost_per_token: "0.2"}
"""
AGENT = load_agent("magentless")
#: the subject of a sheet for checking patches by hand
FRAMES: Any = SimpleNamespace(patches={("magentless", "m", "acme__ui-1"): "diff"})
SHEET = f"check,instance_id,rating,note\n{patch_key('acme__ui-1', 'diff')},acme__ui-1,correct,\n"
PREDICTIONS = '{"instance_id": "acme__ui-1", "model_name_or_path": "m", "model_patch": ""}\n'
READERS = (
    Reader("any.txt", read_text),
    Reader("any.toml", read_toml),
    Reader("any.json", read_json),
    Reader("any.csv", read_table),
    Reader("object.json", lambda path: read_object(path, "a", "b"), '{"a": 1, "b": 2}', ("a", "b")),
    Reader("sheet.csv", lambda path: sheet.read(path, FRAMES, "me"), SHEET),
    Reader("a11y-bench/clones.json", _clones, '{"acme/ui": ["/clones/ui"]}', ("acme/ui",)),
    Reader("data/01_raw/acme__ui/source.json", _source, '{"kind": "git", "commit": "HEAD"}', ("commit", "file")),
    Reader("funnel.json", partial(read_record, kind=Funnel), "", tuple(Funnel.model_fields)),
    Reader("run.json", lambda path: read_run(path.parent), '{"instances": null}', tuple(RunRecord.model_fields)),
    Reader("submission.json", lambda path: bundle.load(path.parent), "", tuple(bundle.Submission.model_fields)),
    Reader("agent.toml", partial(read_manifest, kind=Manifest), VENDORS / "command/agent.toml", ("command", "seconds")),
    Reader("models.yaml", load_models, ONE_MODEL, ("model_list", "model_name", "litellm_params", "model_info")),
    Reader("more.yaml", file_of_models, "models:\n- name: a\n", ("models", "name", "model_list", "model_name")),
    Reader("campaign.toml", load_campaign, 'models = ["a"]\n[[datasets]]\nrepo = "acme/ui"\n', ("datasets", "agents")),
    Reader("patterns.toml", load_patterns, CORE / "patterns.toml", ("a11y", "issue_ref", "test_file", "text", "names")),
    Reader("list.toml", load_list, '[[repository]]\nname = "acme/ui"\n', ("repository", "name")),
    Reader("names.txt", lambda path: read_names(str(path)), "acme__ui-1\n# no\n", ("instance_id",)),
    Reader("acme__ui.toml", _override, '[[override]]\nset.node = "18"\n', ("override", "from", "to", "set", "node")),
    Reader("assessment.toml", load_settings, ASSESSMENT, ("weights", "ratings", "judge")),
    Reader("predictions.jsonl", lambda path: list(foreign._read(path)), PREDICTIONS, ("instance_id", "model_patch")),
    Reader("answers.toml", lambda path: load_answers(path, lambda *_: ()), "", ("answer", "instance", "step", "reply")),
    Reader("ratings.json", partial(exchange.read, rater="me"), "", ("instance_id", "review_status", "wcag", "labels")),
    Reader("dataset.jsonl", _dataset, "", ("org", "repo", "number", "instance_id")),
    Reader("settings.toml", partial(load_agent, "magentless"), AGENT.settings, ("context", "models")),
    Reader(
        "command.toml",
        lambda path: load_agent("command", path),
        VENDORS / "command/examples/qwen-code.toml",
        ("command",),
    ),
    Reader("locks.jsonl", read_list, "", ("instance_id", "base", "schema_version")),
    Reader("prompt.md", _case, "Write a page.\n"),
    Reader("costs.csv", _costs, "track,repo,model,agent\nrepair,acme/ui,m,a\n"),
    Reader("data/costs.csv", _sums, ",".join(CostRow.model_fields) + "\nrepair,acme/ui,m,a,,1,1,0,0,0,0\n"),
    Reader("ledger.sqlite", _ledger),
    Reader("suite.yaml", suites.load_suite, "tests: []\n", ("tests", "name", "prompt")),
    Reader("hybrid.yaml", suites.load_configuration, "timeout: 5\n", tuple(suites.Configuration.model_fields)),
    Reader("results.json", suites._rows, "", ("test_name", "model", "response")),
    *(
        Reader(f"{kind.__name__}.jsonl", partial(read_records, kind=kind), "", tuple(kind.model_fields))
        for kind in (Candidate, Instance, Issue, Prediction, Verdict)
    ),
    Reader("journal.jsonl", partial(journal.read, kind=Issue), "", tuple(Issue.model_fields)),
)


def _of_fields(fields: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """Any value, and objects with fields that the reader knows."""
    if not fields:
        return VALUES
    known = st.dictionaries(st.sampled_from(fields), VALUES, max_size=4)
    deeper = st.dictionaries(st.sampled_from(fields), known | st.lists(known, max_size=2) | VALUES, max_size=4)
    return VALUES | known | deeper | st.lists(deeper, max_size=2)


def _dumped(path: str, value: Any) -> bytes:
    """A value in the format that the file's name implies."""
    if path.endswith(".yaml"):
        return yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "surrogatepass")
    if path.endswith(".toml"):
        try:
            return tomli_w.dumps(value if isinstance(value, dict) else {"x": value}).encode("utf-8", "surrogatepass")
        except (TypeError, ValueError):  # TOML has no null
            return b""
    return json.dumps(value).encode()


def _contents(reader: Reader) -> st.SearchStrategy[bytes]:
    like = reader.like.read_bytes() if isinstance(reader.like, Path) else reader.like.encode()
    cut = st.tuples(st.integers(0, len(like)), st.integers(0, 40), st.binary(max_size=6) | st.text(max_size=6))
    broken = cut.map(lambda one: like[: one[0]] + _bytes(one[2]) + like[one[0] + one[1] :])
    return st.binary(max_size=60) | broken | _of_fields(reader.fields).map(partial(_dumped, reader.name))


def _bytes(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _place(folder: Path, reader: Reader) -> Path:
    path = folder / reader.name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_any_content_is_read_or_refused(reader: Reader, tmp_path: Path) -> None:
    """A traceback names neither file nor line, and ends a command halfway."""
    path = _place(tmp_path, reader)

    @settings(
        max_examples=40,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(_contents(reader))
    def fuzz(content: bytes) -> None:
        path.write_bytes(content)
        try:
            reader.read(path)
        except UserError as error:
            assert path.name in str(error), "it says which file"

    fuzz()


@pytest.mark.rule("bad-input")
def test_a_model_list_that_contains_itself_is_refused(tmp_path: Path) -> None:
    """It was read until Python's stack was full."""
    path = tmp_path / "models.yaml"
    path.write_text(ONE_MODEL.replace("openai/one,", "openai/one, more: &more {again: [*more]},"))
    with pytest.raises(UserError, match="models.yaml:4: the value contains itself"):
        load_models(path)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_file_that_is_not_utf_8_is_refused(reader: Reader, tmp_path: Path) -> None:
    path = _place(tmp_path, reader)
    path.write_bytes(b"\xff\xfe\x00\xe9\n")
    with pytest.raises(UserError, match=re.escape(path.name)):
        reader.read(path)


#: JSON, TOML and YAML at which parsers fail, each in its own way
EXCESSIVE = {
    ".toml": ("x = " + "[" * 2000, "x = " + "9" * 5000, "x = 2024-02-30", "x.y = 1\nx.y.z = 2"),
    ".yaml": ("[" * 500, "x: " + "9" * 5000, "x: 2024-02-30", "x: &a [*a, *a]", "x: !!python/name:os.system"),
    ".json": ("[" * 5000, '{"a":' * 5000, "9" * 5000, "NaN", '"\\ud800"'),
}


@pytest.mark.parametrize("reader", [row for row in READERS if row.read != _override], ids=lambda reader: reader.name)
def test_deeply_nested_and_long_content_is_read_or_refused(reader: Reader, tmp_path: Path) -> None:
    """Parsers raise other errors for such files than for invalid ones: these used to end commands in a traceback."""
    path = _place(tmp_path, reader)
    for text in EXCESSIVE.get(path.suffix, EXCESSIVE[".json"]):
        path.write_text(text, encoding="utf-8")
        try:
            reader.read(path)
        except UserError as error:
            assert path.name in str(error), "it says which file"


@pytest.mark.parametrize("reader", [row for row in READERS if row.like], ids=lambda reader: reader.name)
def test_a_byte_order_mark_is_accepted(reader: Reader, tmp_path: Path) -> None:
    """A byte order mark is invisible: a file that is refused because of it looks right to its author."""
    path = _place(tmp_path, reader)
    text = reader.like.read_text() if isinstance(reader.like, Path) else reader.like
    messages = []
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(text, encoding=encoding)
        try:
            messages.append(re.sub("0x[0-9a-f]+", "", str(reader.read(path))))
        except UserError as error:  # of a file that is only like one that it takes
            messages.append(str(error))
    assert messages[0] == messages[1]
