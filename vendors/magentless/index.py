"""The vectors of a repository's files. Only files that no earlier task has embedded are embedded.

A file's vectors are stored under a digest of its path, its content, the model, the preamble and the chunking. Requests
are sent in batches and in parallel, and each batch is stored when it arrives. Binary files, files that the clone lacks
and files that are not UTF-8 have no vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from magentless.causes import Fault, ProviderFailure
from magentless.checkout import Checkout
from magentless.chunks import chunks
from magentless.inputs import Retrieval
from magentless.provider import EmbeddingModel
from magentless.tokens import Count
from magentless.vectors import Matrix, VectorCache, unit

Pieces = tuple[str, Sequence[str]]  # a key, and the texts to embed for it


@dataclass(frozen=True)
class Index:
    """The vectors of the files of one checkout. `encoding` is what `count` counts with; empty if it estimates."""

    checkout: Checkout
    model: EmbeddingModel
    cache: VectorCache
    settings: Retrieval
    preamble: str
    count: Count
    encoding: str = ""

    def vectors(self, paths: Iterable[str]) -> dict[str, Matrix]:
        """The vectors of the files that have any. Raises ProviderFailure."""
        keys = {path: self._key(path) for path in paths}
        found = self.cache.get(keys.values())
        if found.keys() < set(keys.values()):
            found |= self._filled({path: key for path, key in keys.items() if key not in found})
        return {path: found[key] for path, key in keys.items() if key in found}

    def _key(self, path: str) -> str:
        settings = self.settings
        size = (settings.limit, settings.chunk_tokens, settings.overlap_tokens, self.encoding)
        cut = (settings.model, *size, self.preamble)
        return hashlib.sha256(repr((*cut, path, self.checkout.digest(path))).encode()).hexdigest()

    def _filled(self, keys: Mapping[str, str]) -> dict[str, Matrix]:
        """The vectors of files that were missing; another process may have made some meanwhile."""
        with self.cache.filling():
            found = self.cache.get(keys.values())
            missing = {path: key for path, key in keys.items() if key not in found}
            with ThreadPoolExecutor(self.settings.parallel) as threads:
                for made in threads.map(self._embedded, _batches(self._pieces(missing), self.settings.batch)):
                    self.cache.put(made)
                    found |= made
            return found

    def _pieces(self, keys: Mapping[str, str]) -> Iterator[Pieces]:
        for path, text in self.checkout.texts(keys).items():
            head = f"{self.preamble}File: {path}\n\n"
            most = max(min(self.settings.chunk_tokens, self.settings.limit) - self.count(head), 1)
            pieces = [head + piece for piece in chunks(text, most, self.settings.overlap_tokens, self.count)]
            if pieces:
                yield keys[path], pieces

    def _embedded(self, batch: Sequence[Pieces]) -> dict[str, Matrix]:
        rows = iter(self.model.embed([text for _, pieces in batch for text in pieces], shared=True))
        return {key: unit(islice(rows, len(pieces))) for key, pieces in batch}


def nearest(question: Matrix, files: Mapping[str, Matrix]) -> list[str]:
    """The files, sorted by the distance of their nearest piece to the question, then by path.

    Raises ProviderFailure if a file's vectors are not as long as the question's, as when another model has taken the
    name of the one that embedded the files.
    """
    if any(vectors.shape[1] != len(question) for vectors in files.values()):
        message = "the vectors of the question and of the files differ in length"
        raise ProviderFailure(Fault.PROVIDER_ERROR, f"embedding ([retrieval] model): {message}")
    distance = {path: -float((vectors @ question).max()) for path, vectors in files.items()}
    return sorted(files, key=lambda path: (distance[path], path))


def _batches(files: Iterable[Pieces], most: int) -> list[list[Pieces]]:
    """Batches of whole files with at most this many pieces, except for a file that has more."""
    batches: list[list[Pieces]] = [[]]
    for file in files:
        if sum(len(pieces) for _, pieces in batches[-1]) + len(file[1]) > most:
            batches.append([])
        batches[-1].append(file)
    return [batch for batch in batches if batch]
