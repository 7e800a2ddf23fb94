"""Fourth step: the samples vote.

Patches that make the same program vote together, whatever their formatting and comments; of the largest group the
earliest sample is taken, and of groups of one size the one that began first. Not covered: running tests.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from magentless.checkout import Checkout
from magentless.repair import Sample
from magentless.syntax import fingerprint


def select(samples: Sequence[Sample], checkout: Checkout) -> tuple[Sample | None, list[list[int]]]:
    """The selected sample, None without a valid one; and the groups by their samples' numbers, the largest first."""
    groups: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.came_to("parses"):
            groups[ballot(sample, checkout)].append(sample)
    ordered = sorted(groups.values(), key=lambda group: (-len(group), group[0].number))
    return (ordered[0][0] if ordered else None), [[sample.number for sample in group] for group in ordered]


def ballot(sample: Sample, checkout: Checkout) -> str:
    """A digest of what the sample makes of the files whose meaning it changes."""
    digest = hashlib.sha256()
    for path, text in sorted(sample.files.items()):
        base, new = checkout.text(path), fingerprint(path, text)
        if base is None or fingerprint(path, base) != new:
            digest.update(f"{path}\0{new}\0".encode())
    return digest.hexdigest()
