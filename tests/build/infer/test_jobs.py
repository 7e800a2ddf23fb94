"""The commands that continuous integration runs, in the configuration of every known service."""

from __future__ import annotations

import json

import pytest
from trees import of

from pipeline.build.infer import jobs, shell
from pipeline.build.infer.services import Step

GITHUB = """
jobs:
  lint: {steps: [{run: npm run lint}]}
  build:
    needs: lint
    steps: [{uses: ./.github/set-up}, {run: npm run build}]
  test:
    needs: [build]
    defaults: {run: {working-directory: packages/ui}}
    steps:
      - run: |
          npm ci
          npm run tokens && npm run icons -- ${{ matrix.set }}
          xvfb-run --auto-servernum npm test
"""
ACTION = "runs:\n  steps:\n    - run: yarn --frozen-lockfile\n    - run: yarn generate\n"
TRAVIS = """
language: node_js
before_install: [export DISPLAY=:99.0, sh -e /etc/init.d/xvfb start]
install: npm install
before_script:
  - npm install -g gulp
  - cd themes && gulp css && cd ..
  - gulp icons
script: npm test
"""
TRAVIS_JOBS = """
node_js: 8
before_script: gulp icons
jobs:
  include:
    - {stage: publish, script: npm test}
    - {stage: unit, before_script: gulp tokens, script: [npm run jest]}
"""
CIRCLE = """
commands:
  generate:
    parameters: {what: {type: string, default: icons}}
    steps: [{run: yarn generate << parameters.what >>}]
jobs:
  build:
    working_directory: ~/repo
    steps: [checkout, {run: yarn --frozen-lockfile}, {run: {command: yarn compile, working_directory: ~/repo/core}}]
  unit:
    steps:
      - checkout
      - orb/unknown
      - when: {condition: x, steps: [generate]}
      - generate: {what: tokens}
      - run: {name: Tests, command: yarn test}
workflows:
  all: {jobs: [{build: {name: compiled}}, {unit: {requires: [compiled]}}]}
"""
CIRCLE_ORB = """
orbs: {node: circleci/node@6}
workflows:
  all:
    jobs:
      - node/run: {name: compile, npm-run: build}
      - node/run: {name: icons, npm-run: icons}
      - node/test: {name: unit, app-dir: ~/project/packages/ui, pkg-manager: yarn, requires: [compile]}
"""
CIRCLE_1 = """
machine: {node: {version: 6.1}}
dependencies: {post: [lerna bootstrap, npm run icons: {timeout: 9}]}
test: {pre: [npm run lint], override: [gulp test]}
"""
GITLAB = """
include: [{local: /ci/shared.yml}, https://example.org/other.yml]
stages: [make, check]
make: {extends: .node, stage: make, script: [npm run build], artifacts: {paths: [dist]}}
unit:
  extends: .node
  stage: check
  script: [!reference [.icons, script], cd packages/ui, npm test]
"""
GITLAB_SHARED = """
.node: {image: 'node:12', before_script: [npm ci]}
.icons: {script: [npm run icons]}
"""
AZURE = """
stages:
  - stage: check
    jobs:
      - job: unit
        steps:
          - template: ci/steps.yml
          - task: Npm@1
            inputs: {command: custom, customCommand: run build}
          - script: |
              yarn icons
              yarn test
            workingDirectory: $(Build.SourcesDirectory)/packages/ui
"""
AZURE_STEPS = """
steps:
  - task: Npm@1
    inputs: {command: ci}
  - bash: yarn tokens
"""


@pytest.mark.parametrize(
    ("files", "before", "tests"),
    [
        (
            {".github/workflows/ci.yml": GITHUB, ".github/set-up/action.yml": ACTION},
            [("yarn generate", ""), ("npm run build", ""), ("npm run tokens", "packages/ui")],
            [("npm test", "packages/ui")],
        ),
        ({".travis.yml": TRAVIS}, [("gulp css", "themes"), ("gulp icons", "")], [("npm test", "")]),
        ({".travis.yml": "language: node_js\nbefore_script: gulp"}, [("gulp", "")], [("npm test", "")]),
        ({".travis.yml": TRAVIS_JOBS}, [("gulp icons", "")], [("npm test", ""), ("npm run jest", "")]),
        (
            {".circleci/config.yml": CIRCLE},
            [("yarn compile", "core"), ("yarn generate icons", ""), ("yarn generate tokens", "")],
            [("yarn test", "")],
        ),
        ({".circleci/config.yml": CIRCLE_ORB}, [("npm run build", "")], [("yarn run test", "packages/ui")]),
        ({"circle.yml": CIRCLE_1}, [("npm run icons", "")], [("gulp test", "")]),
        (
            {".gitlab-ci.yml": GITLAB, "ci/shared.yml": GITLAB_SHARED},
            [("npm run build", ""), ("npm run icons", "")],
            [("npm test", "packages/ui")],
        ),
        (
            {"azure-pipelines.yml": AZURE, "ci/steps.yml": AZURE_STEPS},
            [("yarn tokens", ""), ("npm run build", ""), ("yarn icons", "packages/ui")],
            [("yarn test", "packages/ui")],
        ),
    ],
    ids=[
        "github",
        "travis",
        "travis, no script",
        "travis, jobs",
        "circle",
        "circle, orb",
        "circle 1",
        "gitlab",
        "azure",
    ],
)
def test_the_commands_of_each_ci_service_are_read(
    files: dict[str, str], before: list[tuple[str, str]], tests: list[tuple[str, str]]
) -> None:
    """An old repository generated files before its tests in Travis's configuration, which was not read."""
    tree = of(files)
    assert [(step.text, step.folder) for step in jobs.before_tests(tree)] == before
    assert [(step.text, step.folder) for step in jobs.testing(tree)] == tests


@pytest.mark.parametrize(
    ("scripts", "tests", "before"),
    [
        ({"build": "rollup -c", "validate": "eslint . && npm run unit", "unit": "jest"}, ["validate"], ["build"]),
        ({"build": "ng build ui", "icons": "nx run ui:icons", "check": "ng test ui"}, ["check"], ["build", "icons"]),
    ],
    ids=["whatever its name", "unless its program builds"],
)
def test_a_script_that_starts_a_runner_is_a_test(scripts: dict[str, str], tests: list[str], before: list[str]) -> None:
    """The build of an Angular workspace was taken for its tests, and left out of the commands before them."""

    def calls(names: list[str]) -> list[str]:
        return [f"npm run {name}" for name in names]

    steps = ", ".join(calls([*before, *tests]))
    tree = of({"package.json": json.dumps({"scripts": scripts}), ".travis.yml": f"script: [{steps}]"})
    assert [step.text for step in jobs.testing(tree)] == calls(tests)
    assert [step.text for step in jobs.before_tests(tree)] == calls(before)


def test_checks_and_installs_make_nothing() -> None:
    """They would be run before the tests of a base that misses a file."""
    steps = (
        "bun ci, pnpm dedupe, bunx biome ci, yarn depcheck, npm run format, yarn checkformatting, pnpm changeset status"
    )
    text = f"before_script: [{steps}]\nscript: [npm run format:tokens, yarn update:icons, npm test]"
    made = ["npm run format:tokens", "yarn update:icons"]
    assert [step.text for step in jobs.before_tests(of({".travis.yml": text}))] == made


MAKEFILE = """
OUT = web/src
.PHONY: proto
proto: check
\t@# a remark
\tprotoc --python_out=lib proto/*.proto
\tcd web ; ( \\
\t\techo "/* eslint-disable */ $${HOME}" ; \\
\t\tyarn --silent pbjs \\
\t) > $(OUT)/proto.js
check:
\t@-command -v protoc
unit: proto
\tcd web; yarn test
"""


def test_makefile_targets_are_replaced_by_their_commands() -> None:
    """The image has no `make`, and one of its commands may need a program that the tests do not."""
    files = {"Makefile": MAKEFILE, ".travis.yml": "before_script: make proto\nscript: [make -s unit, make none]"}
    before = ["command -v protoc", "protoc --python_out=lib proto/*.proto",
              '( echo "/* eslint-disable */ ${HOME}" ; yarn --silent pbjs ) > web/src/proto.js']  # fmt: skip
    assert [step.text for step in jobs.before_tests(of(files))] == before
    assert [(step.text, step.folder) for step in jobs.testing(of(files))] == [("yarn test", "web")]


def test_jobs_of_other_languages_come_last() -> None:
    """A server's job was taken for the one whose steps the tests of the front end need."""
    server = "jobs: {unit: {steps: [{run: pip wheel}, {run: ./made.sh}, {run: tox test}]}}"
    web = "jobs: {unit: {steps: [{run: yarn icons, working-directory: web}, {run: cd web; CI=1 yarn test}]}}"
    files = {
        ".github/workflows/a.yml": server,
        ".github/workflows/b.yml": web,
        "web/package.json": json.dumps({"scripts": {"test": "jest"}}),
    }
    assert [(step.text, step.folder) for step in jobs.before_tests(of(files))] == [("yarn icons", "web")]
    assert [step.text for step in jobs.testing(of(files))] == ["CI=1 yarn test", "tox test"]


@pytest.mark.parametrize("tested", ["npx nx test menu", "cd packages/menu && yarn jest", "yarn workspace menu test"])
def test_the_job_that_tests_the_package_comes_first(tested: str) -> None:
    """The steps of the first job in the order of paths made nothing that the tests of another package need."""
    files = {
        ".github/workflows/a.yml": "jobs: {unit: {steps: [{run: yarn icons}, {run: yarn workspace menubar test}]}}",
        ".github/workflows/b.yml": f"jobs: {{unit: {{steps: [{{run: yarn texts}}, {{run: {tested}}}]}}}}",
        "package.json": "{}",
        "packages/menu/package.json": json.dumps({"name": "menu", "scripts": {"test": "jest"}}),
    }
    made = of(files)
    found = [[step.text for step in jobs.before_tests(made, tests)] for tests in (["packages/menu/a.test.ts"], [])]
    assert found == [["yarn texts"], ["yarn icons"]]


@pytest.mark.parametrize(
    ("command", "is_test"),
    [
        ("yarn build:test", False),
        ("yarn pre-test", False),
        ("npm run compile-tests", False),
        ("tsc -p tsconfig.test.json", False),
        ("md5sum lib/test-requirements.txt", False),
        ("npx nx-cloud start-ci-run --stop-agents-after=test", False),
        ("mkdir -p test-results", False),
        ("yarn workspace test-utils build", False),
        ("npx nx run-many -t test", True),
        ("yarn ci:test", True),
        ("npm run unit-test", True),
        ("node_modules/.bin/jest", True),
    ],
)
def test_a_build_for_tests_is_no_test(command: str, is_test: bool) -> None:
    """A build for tests was taken for a test, and left out of the commands that run before the tests."""
    assert jobs.tests(of({"package.json": "{}"}), Step(command, "", "")) == is_test


def test_unit_tests_come_first() -> None:
    text = "script: [npm run test:e2e, npm run test:types, npm test, git commit -m tests, npm test]"
    assert [step.text for step in jobs.testing(of({".travis.yml": text}))] == [
        "npm test",
        "npm run test:e2e",
        "npm run test:types",
    ]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("npm run a && npm run b", ["npm run a", "npm run b"]),
        ("npm run a || true\nnpm run b", ["npm run a || true", "npm run b"]),
        ("npm run a \\\n  --flag\n# a remark\n\nnpm run b", ["npm run a --flag", "npm run b"]),
        ("if [ $X ]; then\n  npm test\nfi", ["if [ $X ]; then\n  npm test\nfi"]),
        ("node -e '\n  a && b\n'", ["node -e '\n  a && b\n'"]),
        ('echo "a && b"', ['echo "a && b"']),
        ("xvfb-run -a -s '-screen 0' npm test", ["npm test"]),
        ("cd $OTHER && npm test", []),
        ("cd web; ( a; b ) > c", ["( a; b ) > c"]),
    ],
)
def test_a_shell_text_is_split_into_commands(text: str, commands: list[str]) -> None:
    assert [command.text for command in shell.commands(text)[0]] == commands


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("./packages/ui/", "packages/ui"),
        ("${{ github.workspace }}/a", "a"),
        ("$TRAVIS_BUILD_DIR", ""),
        (".", ""),
        ("../other", None),
        ("/tmp", None),
        ("~/x", None),
        ("-", None),
    ],
)
def test_working_folders_of_each_service_are_read(path: str, folder: str | None) -> None:
    assert shell.inside(path) == folder
