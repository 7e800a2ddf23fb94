"""YAML documents as they are written: every scalar is a text, aliases and merge keys are resolved.

`14.10` stays `14.10`. Does not cover several documents in one file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

#: the key of combinations that a matrix leaves out, with every service
_EXCLUDED = "exclude"


class Reference(tuple[str, ...]):
    """A place elsewhere in the document (GitLab's `!reference [job, script]`)."""


class _Texts(yaml.SafeLoader):
    """Reads every scalar as text and ignores unknown tags."""


_Texts.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag == "tag:yaml.org,2002:merge"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _untagged(loader: _Texts, tag: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        entries = loader.construct_sequence(node, deep=True)
        return Reference(map(str, entries)) if tag == "reference" else entries
    return loader.construct_mapping(node, deep=True) if isinstance(node, yaml.MappingNode) else str(node.value)


_Texts.add_multi_constructor("!", _untagged)


def load(text: str) -> Any:
    """A YAML document with all scalars as texts; None for a text that is not YAML, or that contains itself."""
    try:
        document = _Texts(text).get_single_data()
        json.dumps(document, skipkeys=True)  # refuses what holds itself
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return document


def mapping(value: Any) -> dict[str, Any]:
    """A mapping with its named entries; empty for anything else."""
    return {key: entry for key, entry in value.items() if isinstance(key, str)} if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """The mappings of a list, or the single one."""
    return [mapping(entry) for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, dict)]


def texts(value: Any) -> list[str]:
    """A text, or the texts of a list and its lists."""
    if isinstance(value, list):
        return [text for entry in value for text in texts(entry)]
    return [value] if isinstance(value, str) and value else []


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings as one; where both have a value that is not a mapping, the one above counts."""
    both = {
        key: merged(below[key], value) if isinstance(value, dict) and isinstance(below.get(key), dict) else value
        for key, value in above.items()
    }
    return {**below, **both}


def referred(document: Any, value: Any) -> Any:
    """A value with the references in it replaced by what they name."""
    if isinstance(value, Reference):
        for key in value:
            document = mapping(document).get(key)
        return document
    return [referred(document, entry) for entry in value] if isinstance(value, list) else value


def values(node: Any, key: str) -> list[str]:
    """The texts under a key at any depth, with each text of a list; under `a.b` those of `b` in `a`.

    A parameter's default and the value of a named variable count as texts under their name. What a matrix leaves out
    does not count.
    """
    if isinstance(node, list):
        return [text for element in node for text in values(element, key)]
    if not isinstance(node, dict):
        return []
    outer, _, inner = key.partition(".")
    value = mapping(node.get(outer)).get(inner) if inner else node.get(key)
    value = value.get("default") if isinstance(value, dict) else value
    value = node.get("value") if value is None and node.get("name") == key else value
    found = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    return found + [text for name, child in node.items() if name != _EXCLUDED for text in values(child, key)]
