"""Modules that nyc loads into the processes of the tests."""

from __future__ import annotations

import json

import pytest
from trees import read, tree

OPTIONS = "--require babel-register --require ./test/setup.js"
MODULES = {"require": ["babel-register", "./test/setup.js"]}


@pytest.mark.parametrize(
    ("scripts", "files", "options"),
    [
        ({"test": "nyc mocha test"}, {".nycrc": json.dumps(MODULES)}, OPTIONS),
        ({"test": "nyc mocha test"}, {".nycrc.yml": "require:\n- esm\nall: true\n"}, "--require esm"),
        ({"test": "nyc -i esm --require=tsm mocha test"}, {}, "--require esm --require tsm"),
        ({"test": "nyc npm run unit", "unit": "mocha test"}, {".nycrc.json": json.dumps(MODULES)}, OPTIONS),
        ({"test": "NODE_OPTIONS=-i nyc mocha"}, {".nycrc": '{"require": "esm"}'}, "-i --require esm"),
        ({"test": "mocha test", "cover": "nyc mocha test"}, {".nycrc": json.dumps(MODULES)}, ""),
        ({"test": "nyc mocha test"}, {".nycrc": "[]"}, ""),
    ],
)
def test_mocha_gets_the_modules_that_nyc_loads(scripts: dict[str, str], files: dict[str, str], options: str) -> None:
    found = read(tree(files, devDependencies={"mocha": "^5"}, scripts=scripts))
    assert found.test_env.get("NODE_OPTIONS", "") == options


def test_the_manifest_may_configure_nyc() -> None:
    found = read(tree(devDependencies={"mocha": "^5"}, scripts={"test": "nyc mocha"}, nyc=MODULES))
    assert found.test_env["NODE_OPTIONS"] == OPTIONS
