"""The Node version that continuous integration names: that of the job that runs the tests."""

from __future__ import annotations

import pytest
from trees import read, tree

CI = ".github/workflows/ci.yml"
TESTS = "    steps:\n      - run: npm test\n"


def job(node: str, name: str = "build", steps: str = TESTS) -> str:
    use = "      - uses: actions/setup-node@v4\n        with:\n"
    return f"jobs:\n  {name}:\n{steps}{use}          node-version: {node}\n"


def matrix(key: str, values: str) -> str:
    strategy = f"strategy:\n      matrix:\n        {key}: {values}\n    steps"
    return job(f"${{{{ matrix.{key} }}}}").replace("steps", strategy)


def circle(image: str) -> dict[str, str]:
    return {".circleci/config.yml": f"jobs:\n  test:\n    docker:\n      - image: {image}\n"}


ACTION = {".github/actions/set-up/action.yml": "runs:\n  steps:\n    - with:\n        node-version: 18\n"}
EXECUTOR = """
executors:
  modern: {docker: [{image: 'cimg/node:<< parameters.node >>'}], parameters: {node: {type: string, default: '16.3'}}}
jobs:
  unit: {executor: modern, steps: [{run: yarn test}]}
"""
ORB = """
orbs: {js: circleci/node@6.3.0, auto: acme/auto@2}
workflows:
  all:
    jobs:
      - js/run: {name: lint, yarn-run: lint, version: 18.1.0}
      - auto/publish: {node-version: 18.2.0}
      - js/%s
"""
GITLAB = """
default: {image: 'node:16'}
make: {image: 'node:20', script: [npm run build]}
unit: {script: [npm test]}
"""
TRAVIS_JOBS = "node_js: 16\nscript: npm test\njobs:\n  include:\n    - {stage: publish, node_js: 20, script: skip}\n"
AZURE_MATRIX = """
strategy: {matrix: {old: {node_version: 14.x}}}
steps:
  - {task: UsePythonVersion@0, inputs: {versionSpec: '3.8'}}
  - {task: NodeTool@0, inputs: {versionSpec: $(node_version)}}
  - script: npm test
"""
AZURE_VARIABLES = """
variables: [{name: node, value: 16.x}]
jobs: [{job: unit, steps: [{task: UseNode@1, inputs: {version: $(node)}}, {script: npm test}]}]
"""
USED = "jobs: {test: {steps: [{uses: ./ci/set-up}, {run: npm test}]}}"
SET_UP = "runs: {steps: [{uses: actions/setup-node@v3, with: {node-version: 16}}]}"
NVM = {".travis.yml": "language: generic\nbefore_install: [nvm install 16.3]\nscript: npm test\n"}
AZURE = {"azure-pipelines.yml": "steps:\n- task: NodeTool@0\n  inputs:\n    versionSpec: '16.x'\n"}


@pytest.mark.rule("environment-follows-the-commit")
@pytest.mark.parametrize(
    ("files", "node", "where"),
    [
        ({CI: job("18")}, "18", f"{CI}: build"),
        ({CI: job("14.10")}, "14.10", f"{CI}: build"),
        ({CI: job("'16.x'")}, "16", f"{CI}: build"),
        ({CI: job("lts/*")}, "20", f"{CI}: build"),
        ({CI: job("[10, 12, 14]")}, "14", f"{CI}: build, of 10, 12, 14 the closest"),
        ({CI: job("[18, 20, 22]")}, "20", f"{CI}: build, of 18, 20, 22 the closest"),
        ({".github/workflows/whatever.yaml": job("18")}, "18", ".github/workflows/whatever.yaml: build"),
        (ACTION, "18", ".github/actions/set-up/action.yml"),
        (circle("cimg/node:16.14-browsers"), "16.14", ".circleci/config.yml: test"),
        (circle("circleci/node:8"), "8", ".circleci/config.yml: test"),
        ({".travis.yml": "language: node_js\nnode_js:\n  - '10'\n  - '12'\n"}, "12", ".travis.yml, of 10, 12"),
        ({".travis.yml": "node_js: 6.11.2\n"}, "6.11.2", ".travis.yml"),
        ({".gitlab-ci.yml": "test:\n  image: node:18-alpine\n  script: [npm test]\n"}, "18", ".gitlab-ci.yml"),
        (AZURE, "16", "azure-pipelines.yml"),
        ({".travis.yml": TRAVIS_JOBS}, "16", ".travis.yml"),
        (NVM, "16.3", ".travis.yml"),
        ({".travis.yml": "before_install: nvm install --lts\nscript: npm test\n"}, "20", ".travis.yml"),
        ({".circleci/config.yml": EXECUTOR}, "16.3", ".circleci/config.yml: unit"),
        (circle("cypress/base:16"), "16", ".circleci/config.yml: test"),
        (circle("cypress/browsers:node16.17.1-chrome106-ff105-edge"), "16.17.1", ".circleci/config.yml: test"),
        (circle("circleci/node:lts-browsers"), "20", ".circleci/config.yml: test"),
        ({"circle.yml": "machine:\n  xcode: {version: 9.0}\n  node: {version: 16.1}\n"}, "16.1", "circle.yml"),
        ({".gitlab-ci.yml": GITLAB}, "16", ".gitlab-ci.yml: unit"),
        ({".gitlab-ci.yml": "unit: {image: {name: 'node:16'}, script: [npm test]}"}, "16", ".gitlab-ci.yml: unit"),
        ({"azure-pipelines.yml": AZURE_MATRIX}, "14", "azure-pipelines.yml"),
        ({".azure-pipelines/ci.yml": AZURE_VARIABLES}, "16", ".azure-pipelines/ci.yml: unit"),
        ({"appveyor.yml": "environment: {nodejs_version: 16}"}, "16", "appveyor.yml"),
        ({CI: USED, "ci/set-up/action.yml": SET_UP}, "16", f"{CI}: test"),
    ],
)
def test_node_is_read_from_jobs(files: dict[str, str], node: str, where: str) -> None:
    found = read(tree(files))
    assert found.node == node
    assert where in found.evidence["node"]


@pytest.mark.parametrize(
    ("job", "node"),
    [
        ("run: {name: unit, pkg-manager: yarn, yarn-run: test, version: 16.3.0}", "16.3.0"),
        ("run: {name: unit, npm-run: 'test:ci', version: 16.3.0}", "16.3.0"),
        ("test: {name: unit, run-command: unit, pkg-manager: npm, version: 16.3-browsers}", "16.3"),
        ("test: {name: unit, version: << matrix.version >>, matrix: {parameters: {version: [12.1, 16.3]}}}", "16.3"),
        ("test: {name: unit, matrix: {parameters: {version: [12.1, 16.3]}}}", "16.3"),
        ("test: {name: unit, version: lts}", "20"),
    ],
)
def test_the_jobs_of_circlecis_node_orb_are_read(job: str, node: str) -> None:
    """Only own jobs were read, and the one that published named no Node: the tests ran on the newest line."""
    found = read(tree({".circleci/config.yml": ORB % job}, scripts={"unit": "jest"}))
    assert found.node == node
    assert found.evidence["node"].startswith(".circleci/config.yml: unit")


def test_jobs_of_other_orbs_are_no_jobs_of_node() -> None:
    text = "run: {name: unit, yarn-run: test, version: 16.3.0}"
    assert read(tree({".circleci/config.yml": (ORB % text).replace("circleci/node@", "acme/node@")})).node == "20"


@pytest.mark.parametrize("text", ["node_js: ['0.10', '0.12', iojs]\n", "node_js: '0.12'\n"])
def test_versions_before_node_4_are_ignored(text: str) -> None:
    """None of our reporters runs on these versions: candidates from that time all ended without a report."""
    assert read(tree({".travis.yml": text}), date="2016-03-04").node == "4"


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (f"env:\n  NODE: 18.x\n{job('${{ env.NODE }}')}", "18"),
        (matrix("node", "[16, 18]"), "18"),
        (matrix("node-version", "[16]"), "16"),
        (matrix("node-version", "[16]").replace("matrix.node-version", "matrix.node"), "20"),
        (job("${{ steps.read.outputs.version }}"), "20"),
    ],
)
def test_expressions_are_replaced_by_values_of_the_same_file(text: str, node: str) -> None:
    """A value that is known only when the job runs, or that no step of the job uses, says nothing; the long-term line
    of the commit's day applies."""
    assert read(tree({CI: text})).node == node


def test_a_version_file_named_by_a_job_is_read() -> None:
    text = job("x").replace("node-version: x", "node-version-file: .config/node")
    assert read(tree({CI: text, ".config/node": "18.2.0\n"})).node == "18.2.0"
    assert read(tree({CI: text, ".config/node": "# tools\nnodejs 18.2.0\npython 3\n"})).node == "18.2.0"


def test_merged_yaml_keys_are_resolved() -> None:
    shared = "defaults: &defaults\n  docker:\n    - image: cimg/node:16.3\n"
    steps = "    steps:\n      - run:\n          command: yarn test\n"
    found = read(tree({".circleci/config.yml": f"{shared}jobs:\n  jest:\n    <<: *defaults\n{steps}"}))
    assert (found.node, found.evidence["node"]) == ("16.3", ".circleci/config.yml: jest")


def test_the_job_that_runs_tests_takes_precedence() -> None:
    """A workflow that checks licenses or publishes may run on any Node; the tests' version counts."""
    lint = job("22", "lint", "    steps:\n      - run: npm run lint\n")
    release = job("24", "release")
    files = {
        ".github/workflows/a-license.yml": lint,
        ".github/workflows/b-release.yml": release,
        ".github/workflows/c-main.yml": job("18"),
    }
    assert read(tree(files)).node == "18"
    del files[".github/workflows/c-main.yml"]
    assert read(tree(files)).node == "24"


def test_engines_selects_from_a_matrix() -> None:
    assert read(tree({CI: job("[14, 16, 20]")}, engines={"node": "<18"})).node == "16"


@pytest.mark.parametrize("path", ["build.yaml", "pipeline/unified/jobs.yml"])
def test_a_pipeline_of_azure_may_have_any_name(path: str) -> None:
    """Azure lets a repository choose it. Hundreds of candidates lost their version."""
    text = "steps:\n- task: NodeTool@0\n  inputs:\n    versionSpec: '16.x'\n- script: npm test\n"
    assert read(tree({path: text})).node == "16"
    assert read(tree({path: text.replace("NodeTool@0", "Cache@2")})).node == "20"


def test_versions_that_a_matrix_leaves_out_do_not_count() -> None:
    """The matrix itself was known only to the running job, so only what it leaves out was found."""
    strategy = "    strategy:\n      matrix:\n        node: ${{ fromJson(needs.list.outputs.all) }}\n"
    excluded = "        exclude:\n          - {node: 8, eslint: 2}\n"
    text = job("${{ matrix.node }}").replace(TESTS, f"{strategy}{excluded}{TESTS}")
    assert read(tree({CI: text})).node == "20"


def test_jobs_that_run_the_same_commands_are_one_matrix() -> None:
    """The version of the first job was taken, which was the oldest one, or that of a job that only lints."""
    included = "    - {node_js: 7, env: LINT=1}\n    - node_js: 4\n    - node_js: 6\n"
    text = f"language: node_js\nmatrix:\n  include:\n{included}"
    assert read(tree({".travis.yml": text}), date="2016-12-04").node == "6"
    others = f"{job('16', 'old')}{job('20', 'new').removeprefix('jobs:')}"
    assert read(tree({CI: others})).node == "20"
    assert read(tree({CI: others.replace("npm test", "npm test -- --old", 1)})).node == "16"


@pytest.mark.invariant(7)
@pytest.mark.parametrize("text", ["", "{", "- a\n- b\n", "jobs: 1\n", "jobs: &a\n  b: *a\n", "\tx", "a: &a [*a]\n"])
def test_broken_configurations_are_ignored(text: str) -> None:
    files = dict.fromkeys((CI, ".circleci/config.yml", ".travis.yml", ".gitlab-ci.yml"), text)
    assert read(tree(files)).node == "20"
