"""Repositories with files of any content: an environment is inferred, or the candidate is rejected with a reason.

Environments are inferred while a build is planned, so an uncaught error would stop the batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trees import DATE, of

from pipeline.build.infer import Unsupported, infer
from pipeline.core.records import Environment

TEST = "packages/ui/src/Menu.test.js"
MANIFEST: dict[str, Any] = {
    "name": "ui",
    "version": "1.0.0",
    "workspaces": ["packages/*"],
    "packageManager": "yarn@3.2.0",
    "engines": {"node": ">=14", "npm": "^8"},
    "volta": {"node": "18.0.0", "yarn": "1.22.0"},
    "devEngines": {"packageManager": {"name": "pnpm", "version": "9"}, "runtime": {"name": "node", "version": "20"}},
    "scripts": {"test": "yarn build && jest --config jest.config.js", "build": "make all", "pretest": "npm run build"},
    "dependencies": {"react": "^18.0.0"},
    "devDependencies": {"jest": "^29.7.0", "@types/node": "^18"},
    "jest": {"preset": "ts-jest", "projects": ["<rootDir>/packages/*"]},
}
STEPS = [{"uses": "actions/setup-node@v4", "with": {"node-version": "${{ matrix.node }}"}}, {"run": "npm test"}]
#: file -> a document read from it, and how it is serialized
DOCUMENTS: dict[str, Any] = {
    "package.json": MANIFEST,
    "packages/ui/package.json": MANIFEST | {"workspaces": {"packages": ["x"]}},
    "lerna.json": {"packages": ["packages/*"], "npmClient": "yarn"},
    "angular.json": {
        "projects": {
            "ui": {"root": "packages/ui", "architect": {"test": {"builder": "@angular/build:unit-test", "options": {}}}}
        }
    },
    "pnpm-workspace.yaml": {"packages": ["packages/*"], "catalog": {"jest": "29"}},
    "package-lock.json": {"lockfileVersion": 2, "packages": {"node_modules/jest": {"version": "29.7.0"}}},
    "pnpm-lock.yaml": {
        "lockfileVersion": "9.0",
        "importers": {".": {"devDependencies": {"jest": {"version": "29.7.0"}}}},
    },
    ".github/workflows/ci.yml": {
        "on": "push",
        "env": {"CI": "1"},
        "jobs": {"test": {"strategy": {"matrix": {"node": [16, "18.x"], "include": [{"node": 20}]}}, "steps": STEPS}},
    },
    ".travis.yml": {
        "language": "node_js",
        "node_js": [14, "16"],
        "script": ["npm test"],
        "jobs": {"include": [{"env": "A=1"}]},
    },
    ".circleci/config.yml": {
        "version": 2.1,
        "executors": {"node": {"docker": [{"image": "cimg/node:18.2"}]}},
        "jobs": {"test": {"executor": "node", "steps": ["checkout", {"run": {"command": "npm test"}}]}},
        "workflows": {"all": {"jobs": ["test", {"test": {"matrix": {"parameters": {"v": ["14"]}}}}]}},
    },
    ".gitlab-ci.yml": {"image": "node:18", "include": ["a.yml"], "test": {"extends": ".base", "script": ["npm test"]}},
    "azure-pipelines.yml": {
        "jobs": [{"steps": [{"task": "NodeTool@0", "inputs": {"versionSpec": "16"}}, {"script": "npm test"}]}]
    },
    "appveyor.yml": {"environment": {"matrix": [{"nodejs_version": "14"}]}, "test_script": ["npm test"]},
}
TEXTS = {
    ".nvmrc": "lts/hydrogen",
    ".node-version": "18",
    ".tool-versions": "nodejs 18.2.0\n",
    "mise.toml": '[tools]\nnode = "18"\n',
    ".npmrc": "registry=https://registry.example.org\n",
    ".yarnrc.yml": "yarnPath: .yarn/releases/yarn-3.2.0.cjs\n",
    "yarn.lock": '# yarn lockfile v1\n\njest@^29.7.0:\n  version "29.7.0"\n',
    "Makefile": "all: build\n\tnpx jest\nbuild:\n\t@echo $(X)\n",
    "gulpfile.js": "const jest = require('jest'); require('./tasks/' + name);",
    "jest.config.js": "module.exports = {projects: ['<rootDir>/packages/*']};",
    TEST: "import {render} from '@testing-library/react'; test('a', () => {});",
}
ODD = st.sampled_from(
    [None, True, -1, 2**70, 0.5, "", " ", "*", "../..", "^", "||", "${{ x }}", "\x00", [], [None], [[]], {}, {"a": 1}]
)
FUZZ = settings(
    max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def written(name: str, document: Any) -> str:
    return json.dumps(document) if name.endswith("json") else yaml.safe_dump(document)


FILES = {name: written(name, document) for name, document in DOCUMENTS.items()} | TEXTS


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a document: its container, and its key or index."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from places(inner)


def inferred_or_rejected(files: dict[str, str]) -> None:
    try:
        found = infer(of(files), DATE, [TEST], {})
    except Unsupported as error:
        assert str(error)
        return
    assert isinstance(found, Environment) and found.evidence


def test_an_ordinary_repository_has_an_environment() -> None:
    assert infer(of(FILES), DATE, [TEST], {}).runner == "jest"


@pytest.mark.invariant(7)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_value_of_another_type_breaks_nothing(name: str) -> None:
    @FUZZ
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        document = json.loads(json.dumps(DOCUMENTS[name]))
        for _ in range(data.draw(st.integers(1, 2))):
            container, key = data.draw(st.sampled_from([*places(document)]))
            container[key] = deepcopy(data.draw(ODD))
        others = data.draw(st.sets(st.sampled_from([*FILES])))
        inferred_or_rejected({other: FILES[other] for other in others} | {name: written(name, document)})

    fuzz()


@pytest.mark.invariant(7)
@pytest.mark.parametrize("name", FILES)
def test_any_text_breaks_nothing(name: str) -> None:
    @FUZZ
    @given(st.text(max_size=40), st.integers(0, 400), st.integers(0, 60))
    def fuzz(text: str, start: int, length: int) -> None:
        before = FILES[name]
        inferred_or_rejected(FILES | {name: before[:start] + text + before[start + length :]})

    fuzz()
