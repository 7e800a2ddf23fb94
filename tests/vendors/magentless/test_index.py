"""The vectors of files: what is embedded, and what is found again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from magentless.causes import ProviderFailure
from magentless.checkout import Checkout
from magentless.index import Index, nearest
from magentless.vectors import VectorCache, unit

from .conftest import git

FILES = {"a.ts": "alpha\n", "b.css": "beta\n", "c.vue": b"\0binary", "d.ts": "delta\n" * 40}


class Embedder:
    """Embeds a text by two counts, and records the texts."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def embed(self, texts, *, shared: bool):
        assert shared, "indexing serves all instances"
        self.batches.append(list(texts))
        return [[text.count("alpha"), text.count("beta") + 0.1] for text in texts]

    @property
    def heads(self) -> list[str]:
        return sorted(text.split("\n")[2] for batch in self.batches for text in batch)


@pytest.fixture
def index(tmp_path, make_settings):
    settings = make_settings(
        "[retrieval]\nchunk_tokens = 120\noverlap_tokens = 12\nbatch = 2\nparallel = 1\n"
    ).retrieval

    def make(root) -> Index:
        return Index(Checkout(root), Embedder(), VectorCache(tmp_path / "cache"), settings, "About a11y.\n\n", len)

    return make


def test_files_are_embedded_in_batches_with_path_and_preamble(index, make_checkout):
    made = index(make_checkout(FILES))
    found = made.vectors(FILES)
    assert {path: len(rows) for path, rows in found.items()} == {"a.ts": 1, "b.css": 1, "d.ts": 3}
    assert [len(batch) for batch in made.model.batches] == [2, 3], "a file's pieces stay together"
    assert made.model.batches[0][0] == "About a11y.\n\nFile: a.ts\n\nalpha\n"
    assert np.allclose(np.linalg.norm(found["d.ts"], axis=1), 1)


def test_the_next_task_embeds_only_what_changed(index, make_checkout):
    root = make_checkout(FILES)
    first = index(root).vectors(FILES)
    (root / "a.ts").write_text("other\n")
    git(root, "mv", "b.css", "moved.css")
    git(root, "commit", "--quiet", "--all", "--message", "next")
    later = index(root)
    second = later.vectors(["a.ts", "moved.css", "d.ts"])
    assert later.model.heads == ["File: a.ts", "File: moved.css"]
    assert (second["d.ts"] == first["d.ts"]).all()
    again = index(root)
    again.vectors(["a.ts", "moved.css", "d.ts"])
    assert again.model.batches == []


def test_another_token_encoding_shares_no_chunks(index, make_checkout):
    root = make_checkout(FILES)
    index(root).vectors(FILES)
    other = replace(index(root), encoding="cl100k_base", count=lambda text: len(text) // 2)
    assert {path: len(rows) for path, rows in other.vectors(FILES).items()} == {"a.ts": 1, "b.css": 1, "d.ts": 2}
    assert other.model.heads == ["File: a.ts", "File: b.css", "File: d.ts", "File: d.ts"]


@pytest.mark.trap("one-missing-file")
def test_an_unreadable_file_has_no_vector(index, make_checkout):
    """In MagentLess one malformed or missing file aborts the whole index."""
    root = make_checkout(FILES)
    sha = git(root, "rev-parse", "HEAD:b.css").decode().strip()
    (root / ".git/objects" / sha[:2] / sha[2:]).unlink()
    assert set(index(root).vectors(FILES)) == {"a.ts", "d.ts"}


def test_files_are_sorted_by_their_nearest_chunk():
    files = {"far": unit([[0, 1]]), "mixed": unit([[0, 1], [1, 0.1]]), "also far": unit([[0, 2]])}
    assert nearest(unit([[1, 0]])[0], files) == ["mixed", "also far", "far"]


def test_stored_vectors_of_another_length_are_a_failure():
    with pytest.raises(ProviderFailure, match="differ in length"):
        nearest(unit([[1, 0, 0]])[0], {"a": unit([[1, 0]])})
