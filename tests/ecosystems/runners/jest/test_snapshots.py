"""Snapshot files: their keys, their texts, and the tests that they belong to."""

from __future__ import annotations

import pytest

from pipeline.ecosystems.runners.jest import snapshots as snapfile

FILE = """// Jest Snapshot v1, https://goo.gl/fbAQLP

exports[`Menu opens 1`] = `
<p>
  a \\`word\\` and \\\\ and \\${this}
</p>
`;

exports[`Menu opens 2`] = `"one line"`;

exports[`Menu opens wide 1`] = `null`;

exports[`Menu opens: by keyboard 1`] = `null`;
"""


def test_a_snapshot_file_is_read_without_escapes():
    assert snapfile.read(FILE) == {
        "Menu opens 1": "<p>\n  a `word` and \\ and ${this}\n</p>",
        "Menu opens 2": '"one line"',
        "Menu opens wide 1": "null",
        "Menu opens: by keyboard 1": "null",
    }


def test_a_test_gets_only_snapshots_of_its_exact_name():
    keys = snapfile.read(FILE)
    assert snapfile.of_test("src/Menu.test.js > Menu > opens", keys) == [
        "Menu opens 1",
        "Menu opens 2",
        "Menu opens: by keyboard 1",
    ]
    assert snapfile.of_test("src/Menu.test.js > Menu > opens wide", keys) == ["Menu opens wide 1"]


@pytest.mark.parametrize("key", ["Menu > opens 1", "Menu opens 1"])
@pytest.mark.parametrize("name", ["Menu.test.js > Menu > opens", "Menu.test.js > Menu > opens [2]"])
def test_names_of_jest_and_vitest_are_understood(key, name):
    """Vitest writes ` > ` between group and title, Jest a space; two tests with the same name share their snapshots."""
    assert snapfile.of_test(name, [key]) == [key]
