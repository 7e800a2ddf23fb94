"""Which command builds a repository's stories."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.evaluate.assess.stories.script import command, variables

NPM = ("npm", "run", "build-storybook", "--", "-o", "out")


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"scripts": {"build-storybook": "storybook build"}, "devDependencies": {"storybook": "^8"}}, NPM),
        ({"scripts": {"build-storybook": "node any-program.js"}}, NPM),
        ({"scripts": {"storybook:build": "x"}}, ("npm", "run", "storybook:build", "--", "-o", "out")),
        ({"devDependencies": {"storybook": "^7"}}, ("node_modules/.bin/storybook", "build", "-o", "out")),
        ({"dependencies": {"@storybook/react": "^6"}}, ("node_modules/.bin/build-storybook", "-o", "out")),
        ({"scripts": {"test": "jest"}}, ()),
        ({}, ()),
        ([], ()),
        ({"scripts": ["build-storybook"], "dependencies": ["storybook"], "devDependencies": "storybook"}, ()),
        (
            {"scripts": "build-storybook", "devDependencies": {"storybook": 8}},
            ("node_modules/.bin/storybook", "build", "-o", "out"),
        ),
        ({"scripts": None, "dependencies": None, "devDependencies": 3}, ()),
    ],
)
def test_a_build_script_is_preferred_to_the_package(manifest: Any, words: tuple[str, ...]) -> None:
    assert command(json.dumps(manifest).encode(), "out") == words


@pytest.mark.parametrize("manifest", [None, b"{", b"", b"null", b"\xff", b"[" * 5000])
def test_an_unreadable_manifest_has_no_command(manifest: bytes | None) -> None:
    assert command(manifest, "out") == ()


def test_old_webpacks_get_the_digest_that_new_nodes_hide() -> None:
    assert "NODE_OPTIONS" in variables("20.19.5")
    assert "NODE_OPTIONS" not in variables("16.20.2")
