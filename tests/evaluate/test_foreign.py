"""Predictions from other harnesses: every form they come in, and how they are imported."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from factories import REPO, make_instance

from pipeline import analyze
from pipeline.core.errors import UserError
from pipeline.core.patches import paths
from pipeline.core.records import Prediction
from pipeline.core.store import Store, read_json, read_records, write_records
from pipeline.evaluate import foreign
from pipeline.evaluate.answers import Subject, read_answers
from pipeline.evaluate.cli import command
from pipeline.evaluate.foreign import adopt, adopted, normalized, stubs

SUBJECT = Subject(REPO, "their-harness", "their-model")
HUNK = "@@ -1 +1 @@\n-old\n+new\n"
PLAIN = f"diff --git a/src/x.js b/src/x.js\n--- a/src/x.js\n+++ b/src/x.js\n{HUNK}"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "data")
    write_records(store.dataset(REPO), [make_instance(number) for number in (1, 2, 3)])
    return store


def given(folder: Path, *values: Any) -> Path:
    path = folder / "theirs.jsonl"
    path.write_text("\n".join(json.dumps(value) for value in values))
    return path


def one(instance: str = "acme__ui-1", patch: str | None = PLAIN, **more: Any) -> dict[str, Any]:
    return {"instance_id": instance, "model_name_or_path": "their-model", "model_patch": patch, **more}


@pytest.mark.trap("external-predictions-vanish")
def test_foreign_predictions_become_a_run_that_is_analyzed(store: Store, tmp_path: Path) -> None:
    """Our first version dropped them in the analysis, with a false reason."""
    path = given(tmp_path, one(), one("acme/ui#2", None), one("acme/ui:3", PLAIN.rstrip("\n")), one("acme__web-1"))
    subject = adopt(store, SUBJECT, path)
    answers = read_answers(store, subject)
    assert [answers.predictions[f"acme__ui-{number}"].model_patch for number in (1, 2, 3)] == [PLAIN, "", PLAIN]
    assert not any(each.trusted for each in answers.predictions.values())
    about = read_json(answers.path.with_name("run.json"))
    assert (about["agent"], about["model"], about["foreign"]) == ("their-harness", "their-model", "theirs.jsonl")
    rows = analyze.load(store).predictions
    assert set(rows["agent"]) == {"their-harness"} and rows["predicted"].tolist() == [True] * 3


@pytest.mark.rule("bad-input")
def test_a_refused_evaluation_leaves_no_run(store: Store, tmp_path: Path) -> None:
    """A run that could not be evaluated was listed, and was the newest one from then on."""
    with pytest.raises(UserError, match="not here"), adopted(store, SUBJECT, given(tmp_path, one())):
        raise UserError("not here")
    assert (
        not store.predicted(SUBJECT.repo) and not store.predictions(SUBJECT.repo, "their-harness", "x").parent.exists()
    )
    earlier = adopt(store, SUBJECT, given(tmp_path, one()))
    with pytest.raises(UserError, match="not here"), adopted(store, SUBJECT, given(tmp_path, one())):
        raise UserError("not here")
    assert read_answers(store, SUBJECT).run == earlier.run


def test_a_refused_evaluation_leaves_the_run_of_another_command(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two commands with the same file, the one that was refused removed the run that the other one evaluated."""
    read = foreign._of_model

    def overtaken(path: Path, subject: Subject) -> Any:
        monkeypatch.setattr(foreign, "_of_model", read)
        adopt(store, SUBJECT, path)
        return read(path, subject)

    monkeypatch.setattr(foreign, "_of_model", overtaken)
    with pytest.raises(UserError, match="under way"), adopted(store, SUBJECT, given(tmp_path, one())):
        raise UserError("evaluate is under way")
    assert list(read_answers(store, SUBJECT).predictions) == ["acme__ui-1"]
    with (
        pytest.raises(UserError, match="under way"),
        store.lock("evaluate", SUBJECT.repo, SUBJECT.agent, SUBJECT.model),
        adopted(store, SUBJECT, given(tmp_path, one(patch=""))) as made,
    ):
        raise UserError("evaluate is under way")
    assert read_answers(store, SUBJECT).run == made.run


def test_a_run_whose_making_was_interrupted_is_made_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its `run.json` was there, without predictions: the same command found the run, and then nothing in it."""
    path = given(tmp_path, one())
    for written in ("write_json", "write_records"):
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(f"pipeline.evaluate.foreign.{written}", Mock(side_effect=KeyboardInterrupt))
            adopt(store, SUBJECT, path)
    assert list(read_answers(store, adopt(store, SUBJECT, path)).predictions) == ["acme__ui-1"]


def test_the_same_file_makes_one_run(store: Store, tmp_path: Path) -> None:
    path = given(tmp_path, one())
    first = adopt(store, SUBJECT, path)
    assert adopt(store, SUBJECT, path) == first
    assert adopt(store, SUBJECT, given(tmp_path, one(patch=""))) != first


@pytest.mark.parametrize(
    "document",
    [
        [one()],
        {"acme__ui-1": {"model_patch": PLAIN, "model_name_or_path": "their-model"}},
        {"acme__ui-1": PLAIN},
        {"Acme/UI#1": PLAIN},
        {"org": "acme", "repo": "ui", "number": 1, "fix_patch": PLAIN},
    ],
)
def test_other_forms_of_a_file(store: Store, tmp_path: Path, document: Any) -> None:
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(document, indent=2))
    answers = read_answers(store, adopt(store, SUBJECT, path))
    assert read_records(answers.path, Prediction)[0].model_patch == PLAIN


def test_one_of_several_models_is_selected(store: Store, tmp_path: Path) -> None:
    path = given(tmp_path, one(), one(model_name_or_path="another"))
    assert len(read_answers(store, adopt(store, SUBJECT, path)).predictions) == 1


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("more", ["", "\n" + json.dumps({"instance_id": "acme__ui-2", "model_patch": ""})])
def test_a_key_that_occurs_twice_is_refused(store: Store, tmp_path: Path, more: str) -> None:
    """Otherwise the second patch would be evaluated and the first one lost."""
    path = tmp_path / "theirs.json"
    path.write_text('{"instance_id": "acme__ui-1", "model_patch": "x", "model_patch": ""}' + more)
    with pytest.raises(UserError, match="the key 'model_patch' occurs twice"):
        adopt(store, SUBJECT, path)


@pytest.mark.rule("bad-input")
def test_mistakes_in_a_json_document_have_no_line(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps([one(), one("acme__ui-9")], indent=2))
    with pytest.raises(UserError, match="entry 2: acme__ui-9 is not in the dataset") as error:
        adopt(store, SUBJECT, path)
    assert error.value.line is None


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("values", "line", "message"),
    [
        ([one(), one("acme/ui#1")], 2, "acme__ui-1 occurs twice, in line 1 and line 2"),
        ([one(), one("acme__ui-9")], 2, "acme__ui-9 is not in the dataset"),
        ([one(), one("acme")], 2, "'acme' is not an instance"),
        ([one(model_name_or_path="another")], 1, "no prediction of their-model"),
        ([one(), {"instance_id": "acme__ui-2"}], 2, "the patch is missing"),
        ([one(), one("acme__ui-2", patch=3)], 2, "the patch is missing"),
        ([one(), one("acme__ui-2", patch=PLAIN + "\ud83d")], 2, "the patch is missing"),
        ([one(), 3], 2, "not a JSON object"),
    ],
)
def test_a_mistake_is_refused_with_its_line(store: Store, tmp_path: Path, values: Any, line: int, message: str) -> None:
    path = given(tmp_path, *values)
    with pytest.raises(UserError, match=message) as error:
        adopt(store, SUBJECT, path)
    assert (error.value.path, error.value.line) == (path, line)
    assert not (store.root / "03_predictions").exists()


@pytest.mark.parametrize(
    "patch",
    [
        PLAIN,
        PLAIN.replace(" a/", " i/").replace(" b/", " w/"),
        PLAIN.replace(" a/", " c/").replace(" b/", " i/"),
        PLAIN.replace(" a/", " ").replace(" b/", " "),
        PLAIN[PLAIN.index("---") :],
        PLAIN[PLAIN.index("---") :].replace(" a/", " ").replace(" b/", " ").rstrip("\n"),
    ],
)
def test_prefixes_are_normalized_to_those_of_git(tmp_path: Path, patch: str) -> None:
    assert normalized(patch) == PLAIN and list(paths(normalized(patch))) == ["src/x.js"]


@pytest.mark.parametrize("folder", ["a", "b", "w"])
def test_a_folder_named_like_a_prefix_is_kept(tmp_path: Path, folder: str) -> None:
    """`git diff --no-prefix` of a new, a removed and a changed file: git's header has the same name twice."""
    (tmp_path / folder).mkdir()
    for name in ("gone.js", "x.js"):
        (tmp_path / folder / name).write_text("old\n")
    files = {
        "new.js": "new file mode 100644\n--- /dev/null\n+++ {0}\n@@ -0,0 +1 @@\n+new\n",
        "gone.js": "deleted file mode 100644\n--- {0}\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
        "x.js": "--- {0}\n+++ {0}\n@@ -1 +1 @@\n-old\n+new\n",
    }
    parts = [(f"diff --git {{0}} {{0}}\n{text}").format(f"{folder}/{name}") for name, text in files.items()]
    patch = normalized("".join(parts))
    assert subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch, text=True).returncode == 0
    assert sorted((path.name, path.read_text()) for path in (tmp_path / folder).iterdir()) == [
        ("new.js", "new\n"),
        ("x.js", "new\n"),
    ]


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_a_hunk_that_ends_in_an_empty_line_keeps_it(tmp_path: Path, ending: str) -> None:
    """Some tools omit the space of an empty context line; without the line, the patch would be cut short."""
    (tmp_path / "x.js").write_text("a\nb\n\n")
    patch = f"--- a/x.js\n+++ b/x.js\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n{ending}"
    done = subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=normalized(patch), text=True)
    assert (done.returncode == 0) == bool(ending)
    assert (tmp_path / "x.js").read_text() == ("a\nc\n\n" if ending else "a\nb\n\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("prefixes", [("a/", "b/"), ("i/", "w/"), ("", "")])
def test_new_and_removed_files_apply(tmp_path: Path, prefixes: tuple[str, str], end: str) -> None:
    """With and without git's header; content lines that look like a header are unchanged. Windows ends all lines in CR
    LF."""
    old, new = prefixes
    added = f"--- /dev/null\n+++ {new}src/new.js\n@@ -0,0 +1,2 @@\n+++ i/not-a-header\n+b\n"
    removed = f"--- {old}x.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-- old\n"
    headed = f"diff --git {old}y.js {new}y.js\ndeleted file mode 100644\n{removed.replace('x.js', 'y.js')}"
    for name in ("x.js", "y.js"):
        (tmp_path / name).write_text(f"- old{end}", newline="")
    patch = normalized((added + removed + headed).replace("\n", end))
    done = subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=tmp_path, input=patch, text=True)
    assert done.returncode == 0
    assert (tmp_path / "src" / "new.js").read_text() == "++ i/not-a-header\nb\n"
    assert [path.name for path in tmp_path.iterdir()] == ["src"]


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_binary_file_without_its_content_is_left_out(end: str) -> None:
    """`git diff` without `--binary` writes this; git refused the whole patch, including the fix in it."""
    line = "Binary files a/logo.png and b/logo.png differ"
    stub = f"diff --git a/logo.png b/logo.png\nindex 1..2 100644\n{line}{end}"
    assert (normalized(PLAIN + stub), stubs(PLAIN + stub)) == (PLAIN, [line])
    assert (normalized(stub), normalized(stub.rstrip("\n") + "\n" + PLAIN)) == ("", PLAIN)


def test_a_line_about_a_binary_file_is_content() -> None:
    text = PLAIN.replace("@@ -1 +1 @@\n", "@@ -1,2 +1,2 @@\n Binary files a and b differ\n")
    assert (normalized(text), stubs(text)) == (text, [])


@pytest.mark.parametrize(
    ("words", "agent"),
    [
        ((), "external"),
        (("--name", "v2"), "external@v2"),
        (("--agent", "magentless"), "magentless"),
        (("--agent", "theirs", "--name", "v2"), "theirs@v2"),
    ],
)
def test_predictions_without_a_named_harness_are_not_our_agents(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], agent: str
) -> None:
    """They became the newest run of our default agent; and those with another name, the newest run without one."""
    evaluate = Mock(return_value=[])
    monkeypatch.setattr("pipeline.evaluate.stage.evaluate", evaluate)
    monkeypatch.setattr("pipeline.evaluate.cli.say", Mock())
    given_words = [str(REPO), "their-model", "--predictions", str(given(tmp_path, one())), *words]
    done = CliRunner().invoke(command, [*given_words, "--data", str(store.root), "--sandbox", "local"])
    assert done.exit_code == 0, done.output
    assert evaluate.call_args.args[1].agent == agent


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("option", ["--run", "--settings", "--models"])
def test_an_option_that_chooses_another_run_is_refused(store: Store, tmp_path: Path, option: str) -> None:
    """It was ignored."""
    path = given(tmp_path, one())
    words = [str(REPO), "their-model", "--predictions", str(path), option, str(path), "--data", str(store.root)]
    done = CliRunner().invoke(command, [*words, "--sandbox", "local"])
    assert done.exit_code == 2 and f"so {option} has no effect" in done.output
    assert not (store.root / "03_predictions").exists()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("named", "hint"),
    [
        (("oracle",), "pass the model_name_or_path"),
        (("their-model", "--agent", "oracle"), "name the harness"),
        (("their-model", "--agent", "oracle", "--name", "v2"), "name the harness"),
    ],
)
def test_references_have_no_predictions_file(store: Store, tmp_path: Path, named: tuple[str, ...], hint: str) -> None:
    """A harness of this name counted as the gold patches, and the dataset as not valid."""
    words = [str(REPO), *named, "--predictions", str(given(tmp_path, one())), "--data", str(store.root)]
    with pytest.raises(UserError, match="'oracle' is a reference of this benchmark") as error:
        CliRunner().invoke(command, [*words, "--sandbox", "local"], catch_exceptions=False)
    assert hint in str(error.value.hint) and not (store.root / "03_predictions").exists()
