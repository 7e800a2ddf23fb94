"""Which Node version a commit was developed with: small trees with the expected versions."""

from __future__ import annotations

import pytest
from trees import BERRY, DATE, YARN_1, of, read, tree

from pipeline.build.infer import Tree
from pipeline.build.infer.lines import lines, named

rule = pytest.mark.rule("environment-follows-the-commit")


@rule
@pytest.mark.parametrize(
    ("made", "node", "evidence"),
    [
        (tree({".nvmrc": "v18.12.1\n"}), "18.12.1", ".nvmrc"),
        (tree({".nvmrc": "16"}), "16", ".nvmrc"),
        (tree({".nvmrc": "lts/hydrogen\n", ".node-version": "14.2\n"}), "18", ".nvmrc: lts/hydrogen"),
        (tree({".nvmrc": "lts/*\n"}), "20", ".nvmrc: lts/*"),
        (tree({".nvmrc": "node\n"}), "22", ".nvmrc: node"),
        (tree({".nvmrc": "system\n", ".node-version": "14.2\n"}), "14.2", ".node-version"),
        (tree({".tool-versions": "python 3.12.0\nnodejs 20.11.0\n"}), "20.11.0", ".tool-versions"),
        (tree({"mise.toml": '[tools]\nnode = "20.11"\n'}), "20.11", "mise.toml"),
        (tree({".nvmrc": "16"}, volta={"node": "18.3.0", "yarn": "1.22.0"}), "18.3.0", "package.json: volta.node"),
        (tree({".nvmrc": "18"}, engines={"node": "^16"}), "18", ".nvmrc"),
        (
            tree(devEngines={"runtime": {"name": "node", "version": "20.1.0"}}),
            "20.1.0",
            "package.json: devEngines.runtime",
        ),
        (tree({".nvmrc": "18"}, devEngines={"runtime": [{"name": "deno", "version": "2.0.0"}]}), "18", ".nvmrc"),
        (tree({"pnpm-workspace.yaml": "packages: [a]\nuseNodeVersion: 20.1.0\n"}), "20.1.0", "pnpm-workspace.yaml"),
        (tree({".npmrc": "use-node-version=20.1.0\n"}), "20.1.0", ".npmrc"),
    ],
)
def test_node_is_read_from_the_most_exact_file(made: Tree, node: str, evidence: str) -> None:
    """Within one repository, versions range from Node 6 to 24. What the commit's own files say counts, the most exact
    first."""
    found = read(made)
    assert (found.node, found.evidence["node"]) == (node, evidence)


@rule
@pytest.mark.parametrize(
    ("engines", "node"),
    [
        ("^16.4.0", "16"),
        ("14.x", "14"),
        ("v12", "12"),
        (">= 10", "20"),
        (">=8", "20"),
        (">=6.0.0 <15", "14"),
        (">=10 <13", "12"),
        ("12 || 14", "14"),
        ("^14 || >=16", "20"),
        ("~14.2", "14.2"),
        ("14.2.0", "14.2.0"),
        (">= 22", "22"),
        (">= 21", "22"),
        ("18 - 20", "20"),
        (">= 0.9", "20"),
        ("0.10 || 0.12", "20"),
        ("whatever you like", "20"),
        ("*", "20"),
    ],
)
def test_engines_limits_node(engines: str, node: str) -> None:
    """A lower bound says little: the long-term line of the day if the range allows it, otherwise the closest one
    below."""
    assert read(tree(engines={"node": engines})).node == node


@rule
@pytest.mark.parametrize(
    ("date", "node"),
    [
        ("2025-10-28T00:00:00Z", "24"),
        ("2024-10-28T23:59:59Z", "20"),
        ("2023-10-24T00:00:00Z", "20"),
        ("2023-10-23T00:00:00Z", "18"),
        ("2017-11-01T00:00:00Z", "8"),
        ("2016-11-01T00:00:00Z", "6"),
        ("2014-01-01T00:00:00Z", "4"),
    ],
)
def test_the_lts_release_of_the_day_is_the_default(date: str, node: str) -> None:
    """A repository that names no version, or only a lower bound, was developed with the current one."""
    for made in (tree(), tree(engines={"node": ">=4"}), tree({".nvmrc": "whatever"})):
        found = read(made, date=date)
        assert found.node == node
        assert f"the long-term line of the time ({node})" in found.evidence["node"]


@rule
@pytest.mark.parametrize(
    ("date", "types", "engines", "node"),
    [
        ("2021-03-01", "^14.14.22", ">=8", "14"),
        ("2022-03-01", "^14.14.22", "", "14"),
        ("2022-03-01", "^14.14.22", ">=16", "16"),
        ("2023-06-01", "^14.14.22", "", "18"),
        ("2022-02-01", "^17.0.8", "", "16"),
        ("2024-05-01", "^22.9.0", "", "20"),
        ("2024-05-01", "*", "", "20"),
    ],
)
def test_the_types_of_node_name_a_version(date: str, types: str, engines: str, node: str) -> None:
    """Bots update them and people forget them: they count only while their line had long-term support."""
    made = tree(devDependencies={"jest": "^29", "@types/node": types}, engines={"node": engines} if engines else {})
    assert read(made, date=date).node == node


@rule
@pytest.mark.parametrize(
    ("lock", "text", "date", "node"),
    [
        ("package-lock.json", '{\n  "lockfileVersion": 1\n}', "2022-01-01", "14"),
        ("package-lock.json", '{\n  "lockfileVersion": 2\n}', "2022-01-01", "16"),
        ("package-lock.json", '{\n  "lockfileVersion": 3\n}', "2021-01-01", "16"),
        ("yarn.lock", BERRY.format(8, "10c0"), "2022-01-01", "18"),
    ],
)
def test_the_lock_file_format_limits_node(lock: str, text: str, date: str, node: str) -> None:
    found = read(tree({lock: text}), date=date)
    assert found.node == node
    assert lock in found.evidence["node"] or lock == "package-lock.json" and "2" in text


def test_engines_takes_precedence_over_the_lock_file() -> None:
    old = tree({"package-lock.json": '{"lockfileVersion": 1}'}, engines={"node": ">=18"})
    assert read(old).node == "20"


def test_the_node_releases_are_in_order() -> None:
    assert [line.major for line in lines()] == sorted((line.major for line in lines()), reverse=True)
    assert all(line.released < (line.lts or line.ends) < line.ends or not line.lts for line in lines())


def test_a_word_that_is_no_version_names_none() -> None:
    for text in ("", "lts/unknown", "system", "lts/", "${{ matrix.node }}"):
        assert named(text, DATE) == ""


def test_an_install_without_a_lock_file_uses_a_manager_with_dates() -> None:
    """Node 4's npm ignores `--before` and installs today's versions."""
    made = of({"package.json": '{"devDependencies": {"jest": "^19.0.0"}}'})
    environment = read(made, date="2015-12-01T00:00:00Z")
    assert environment.node == "6"
    assert environment.evidence["node"].endswith("no lock file: npm 6, the first that can install as of a day")
    assert read(tree(), date="2015-12-01T00:00:00Z").node == "4"


def test_a_named_version_without_dates_is_replaced() -> None:
    """npm 4 ignores the day: today's packages were installed for a Node of 2016."""
    old = {".travis.yml": "node_js: 4\n", "package.json": '{"devDependencies": {"jest": "^12"}}'}
    found = read(of(old), date="2016-06-01")
    assert (found.node, found.evidence["node"].partition(";")[0]) == ("6", ".travis.yml, which names 4")
    assert read(of(old | {".travis.yml": "node_js: 6.1.0\n"}), date="2016-06-01").node == "6"
    assert read(of(old | {"yarn.lock": YARN_1}), date="2016-06-01").node == "4"
    assert read(of(old | {".travis.yml": "node_js: 8\n"}), date="2016-06-01").node == "8"


@pytest.mark.parametrize(
    ("runner", "named_by_file", "node"),
    [
        ("mocha", "6.10", "8"),
        ("mocha", "8.8.1", "8"),
        ("karma", "6", "8"),
        ("mocha", "8.9", "8.9"),
        ("jest", "6.10", "6.10"),
    ],
)
def test_a_version_too_old_for_our_reporter_is_replaced(runner: str, named_by_file: str, node: str) -> None:
    """Else the first run ended with a syntax error in our reporter, and another Node was tried last."""
    found = read(tree({".nvmrc": named_by_file, "yarn.lock": YARN_1}, devDependencies={runner: "^3"}))
    assert found.node == node
    assert ("reporter" in found.evidence["node"]) is (node != named_by_file)
