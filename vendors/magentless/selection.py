"""Fourth step: the samples vote.

Patches that result in the same program, apart from formatting and comments, vote together. The earliest sample of the
largest group is selected; in a tie, the group with the earliest sample wins. Not covered: running tests.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from magentless.checkout import Checkout
from magentless.repair import Sample
from magentless.syntax import fingerprint


def select(samples: Sequence[Sample], checkout: Checkout) -> tuple[Sample | None, list[list[int]]]:
    """The selected sample (None without a valid one), and the groups of sample numbers, the largest first."""
    groups: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.came_to("parses"):
            groups[ballot(sample, checkout)].append(sample)
    ordered = sorted(groups.values(), key=lambda group: (-len(group), group[0].number))
    return (ordered[0][0] if ordered else None), [[sample.number for sample in group] for group in ordered]


def ballot(sample: Sample, checkout: Checkout) -> str:
    """A digest of the resulting files whose meaning the sample changes."""
    digest = hashlib.sha256()
    for path, text in sorted(sample.files.items()):
        base, new = checkout.text(path), fingerprint(path, text)
        if base is None or fingerprint(path, base) != new:
            digest.update(f"{path}\0{new}\0".encode())
    return digest.hexdigest()
