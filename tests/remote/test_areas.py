"""Which files are transferred between data directories."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from factories import REPO

from pipeline.core.errors import UserError
from pipeline.remote.areas import filters, is_live, passes, travels
from pipeline.remote.forms import form_of, journal, pages


@pytest.mark.parametrize(
    ("path", "does"),
    [
        ("02_dataset/acme__ui.jsonl", True),
        ("subsets/lite.txt", True),
        ("subsets/lite-v2.txt", True),
        ("05_analysis/report.html", False),
        ("01_raw/acme__ui/clone", False),
        ("subsets/.lite.txt.abcdefgh", False),
        ("archive/lite.txt", False),
        ("00_viewer/acme__ui.jsonl.torn", False),
        ("02_dataset/.rsync-partial", False),
    ],
)
def test_only_inputs_of_other_stages_are_transferred(path: str, does: bool) -> None:
    assert travels(path) is does


@pytest.mark.parametrize("stages", [(), ("predict",)])
def test_subsets_are_transferred_with_every_stage(stages: tuple[str, ...]) -> None:
    """A campaign on a server did not find its subset."""
    assert "--include=/subsets/***" in filters(stages, [REPO])


FOLDERS = ("00_viewer", "00_viewer/decisions", "00_viewer/final", "02_dataset")
HELD = [
    *("schema.json", "costs.csv", "subsets/lite.txt", "subsets/.lite.txt.abcdefgh", "locks/acme__ui.jsonl"),
    "00_viewer/acme__ui.jsonl.torn",
    *("00_viewer/handchecks.jsonl", "03_predictions/responses/cache.db", "05_analysis/report.html", ".locks/a.lock"),
    *(f"{folder}/{slug}.jsonl" for folder in FOLDERS for slug in ("acme__ui", "big-acme__ui", "acme__ui-kit")),
    *(f"01_raw/{slug}/{name}" for slug in ("acme__ui", "big-acme__ui", "acme__.github") for name in
      ("candidates.jsonl", "collect.sqlite", "collect.sqlite-wal", "pictures/abc", ".keep.lock", ".pages.half",
       "pages.jsonl.gz")),
    *("02_dataset/acme__ui/audit.jsonl", "02_dataset/big-acme__ui/audit.jsonl", "02_dataset/acme__ui/.a.json.abcdefgh"),
    *(f"03_predictions/repair/magentless/{slug}/m/r/predictions.jsonl" for slug in ("acme__ui", "acme__ui-kit")),
    *("03_predictions/answers/acme__ui/acme__ui-1/x/manifest.json", "03_predictions/pages/r/answers.jsonl"),
    *("04_evaluation/repair/magentless/acme__ui/m/verdicts.jsonl", "04_evaluation/pages/r/verdicts.jsonl"),
]  # fmt: skip


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held")
    for name in HELD:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def sent(held: Path, target: Path, *selection: Sequence[Any]) -> set[str]:
    """What rsync transfers with these filters."""
    subprocess.run(["rsync", "-a", *filters(*selection), f"{held}/", f"{target}/"], check=True)
    return {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}


@pytest.mark.engine("rsync")
def test_filters_and_names_agree(held: Path, tmp_path: Path) -> None:
    """A merge reads exactly the transferred files: none too many, and none is lost on the way."""
    assert sent(held, tmp_path / "all") == {name for name in HELD if travels(name)}


@pytest.mark.engine("rsync")
def test_only_files_of_one_repository_are_transferred(held: Path, tmp_path: Path) -> None:
    """For `acme/ui` and not `big-acme/ui`: with only some of its files, another repository would be inconsistent."""
    files = sent(held, tmp_path / "one", (), [REPO]) - {"schema.json", "subsets/lite.txt"}
    ours = {name for name in HELD if "/acme__ui/" in name or name.endswith("/acme__ui.jsonl")}
    assert files == {name for name in ours if travels(name)}
    built = sent(held, tmp_path / "built", ("build",), [REPO]) - {"schema.json", "subsets/lite.txt"}
    assert built == {"02_dataset/acme__ui.jsonl", "02_dataset/acme__ui/audit.jsonl"}


def test_what_is_appended_to_in_place_is_live() -> None:
    live = {name for name in HELD if travels(name) and is_live(name)}
    assert live == {name for name in HELD if travels(name) and form_of(name) in (journal, pages)}
    assert live >= {"00_viewer/decisions/acme__ui.jsonl", "01_raw/acme__ui/pages.jsonl.gz"}


@pytest.mark.engine("rsync")
def test_a_copy_shares_only_files_that_are_replaced_and_never_appended_to(held: Path, tmp_path: Path) -> None:
    """A rating that was made during a pull also went into the copy, by a hard link, and so counted as the server's."""
    here, copy = tmp_path / "here", tmp_path / "here/.remote/copy"
    subprocess.run(["rsync", "-a", f"{held}/", f"{here}/"], check=True)
    copy.mkdir(parents=True)
    for _ in range(2):
        for arguments in passes(filters(), str(here)):
            subprocess.run(["rsync", "-a", *arguments, f"{held}/", f"{copy}/"], check=True)
        copied = {name for name in HELD if travels(name)}
        assert {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()} == copied
        assert {name for name in copied if not (copy / name).samefile(here / name)} == set(filter(is_live, copied))
        (copy / "02_dataset/gone.jsonl").write_text("no longer on the other side")


@pytest.mark.rule("bad-input")
def test_an_unknown_stage_is_refused() -> None:
    with pytest.raises(UserError, match="unknown stage 'guess'"):
        filters(["guess"])
