"""Lock files of the four managers: their packages, and what remains of a changed entry."""

from __future__ import annotations

import json

import pytest
import trees

from pipeline.ecosystems.graph import Graph
from pipeline.ecosystems.locks import Locked, graph, locked, pin, rehost
from pipeline.ecosystems.locks import version as version_of

YARN = """\
# yarn lockfile v1


"@a/b@^1.0.0", "@a/b@~1.2.0":
  version "1.2.3"
  resolved "https://registry.yarnpkg.com/@a/b/-/b-1.2.3.tgz#aa"
  integrity sha512-AA==
  dependencies:
    c "^1.0.0"

c@1.0.0:
  version "1.0.0"
  resolved "https://registry.yarnpkg.com/c/-/c-1.0.0.tgz#bb"

"d@https://github.com/acme/d/tarball/stable":
  version "4.5.0"
  resolved "https://github.com/acme/d/tarball/stable#cc"
"""
BERRY = """\
__metadata:
  version: 8
  cacheKey: 10c0

"@a/b@npm:^1.0.0, @a/b@npm:~1.2.0":
  version: 1.2.3
  resolution: "@a/b@npm:1.2.3"
  dependencies:
    c: "npm:^1.0.0"
  checksum: 10c0/aa
  languageName: node
  linkType: hard

"c@npm:1.0.0":
  version: 1.0.0
  resolution: "c@npm:1.0.0"
  checksum: 10c0/bb
  languageName: node
  linkType: hard
"""
NPM = {
    "packages": {
        "": {"name": "x", "version": "1.0.0"},
        "node_modules/@a/b": {
            "version": "1.2.3",
            "resolved": "https://r.example/@a/b/-/b-1.2.3.tgz",
            "integrity": "sha",
        },
        "node_modules/e/node_modules/c": {"version": "1.0.0"},
    }
}
NPM_1 = {"dependencies": {"e": {"version": "1.0.0", "dependencies": {"c": {"version": "1.0.0", "integrity": "sha"}}}}}
PNPM_9 = (
    "packages:\n\n  '@a/b@1.2.3':\n    resolution: {}\n\nsnapshots:\n\n  c@1.0.0(react@18.0.0):\n    dependencies:\n"
)
PNPM_6 = "packages:\n\n  /@a/b@1.2.3:\n    resolution: {}\n\n  /c@1.0.0(react@18.0.0):\n    resolution: {}\n"
PNPM_5 = "packages:\n\n  /@a/b/1.2.3:\n    resolution: {}\n\n  /c/1.0.0:\n    resolution: {}\n"
REGISTRY = "https://r/"
IMPORTERS = "lockfileVersion: '9.0'\nimporters:\n  .:\n    devDependencies:\n      jest:\n        specifier: ^29\n        version: 29.7.0(x)\n"  # noqa: E501


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("yarn.lock", YARN),
        ("yarn.lock", BERRY),
        ("package-lock.json", json.dumps(NPM)),
        ("pnpm-lock.yaml", PNPM_9),
        ("pnpm-lock.yaml", PNPM_6),
        ("docs/pnpm-lock.yaml", PNPM_5),
    ],
)
def test_packages_of_a_lock_file_are_read(path: str, text: str) -> None:
    assert [(package.name, package.version) for package in locked(path, text)][:2] == [
        ("@a/b", "1.2.3"),
        ("c", "1.0.0"),
    ]


def test_the_ranges_that_request_a_package_are_read() -> None:
    assert locked("yarn.lock", YARN)[0].requested == locked("yarn.lock", BERRY)[0].requested == ("^1.0.0", "~1.2.0")
    assert locked("yarn.lock", YARN)[2] == Locked("d", "4.5.0", ("https://github.com/acme/d/tarball/stable",))
    assert [package.name for package in locked("npm-shrinkwrap.json", json.dumps(NPM_1))] == ["e", "c"]


ALIAS = "node_modules/vue-latest"
PNPM_ALIASES = """\
importers:
  .:
    devDependencies:
      vue-latest:
        specifier: npm:vue@~2.5.16
        version: {importer}
{table}:
  {key}:
    dependencies:
      vue-nested: {nested}
      peers: 1.0.0(react@17.0.2)
"""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("yarn.lock", '"vue-latest@npm:vue@~2.5.16", vue@^2.5.16, "vue@npm:vue@~2.5.16":\n  version "2.5.16"\n'),
        ("yarn.lock", '"vue-latest@npm:vue@~2.5.16, vue@npm:^2.5.16":\n  version: 2.5.16\n'
                      '  resolution: "vue@npm:2.5.16"\n'),
        ("package-lock.json", json.dumps({"packages": {ALIAS: {"name": "vue", "version": "2.5.16"}}})),
        ("package-lock.json", json.dumps({"dependencies": {"vue-latest": {"version": "npm:vue@2.5.16"}}})),
        ("pnpm-lock.yaml", PNPM_ALIASES.format(importer="vue@2.5.16(react@17.0.2)", table="snapshots",
                                               key="vue@2.5.16(react@17.0.2)", nested="vue@2.5.16")),
        ("pnpm-lock.yaml", PNPM_ALIASES.format(importer="/vue@2.5.16", table="packages", key="/vue@2.5.16",
                                               nested="/vue@2.5.16")),
        ("pnpm-lock.yaml", PNPM_ALIASES.format(importer="/vue/2.5.16_react@17.0.2", table="packages",
                                               key="/vue/2.5.16_react@17.0.2", nested="/vue/2.5.16")),
        ("bun.lock", '{"packages": {"vue-latest": ["vue@2.5.16", "", {}, ""]}}'),
        ("bun.lock", '{"packages": {"@x/y/vue-latest": ["vue@2.5.16", "", {}, ""]}}'),
    ],
)  # fmt: skip
def test_an_alias_is_read_with_the_package_that_it_stands_for(path: str, text: str) -> None:
    found = locked(path, text)
    aliases = {(package.name, package.version, package.source) for package in found if package.source}
    assert ("vue-latest", "2.5.16", "vue") in aliases
    assert {package.package for package in found} == {"vue"}
    assert aliases <= {("vue-latest", "2.5.16", "vue"), ("vue-nested", "2.5.16", "vue")}


def test_an_alias_is_pinned_by_the_name_of_its_package() -> None:
    text = '"vue-latest@npm:vue@~2.5.16":\n  version "2.5.16"\n  resolved "https://r/vue/-/vue-2.5.16.tgz"\n'
    assert 'resolved "https://r/vue/-/vue-2.5.15.tgz"' in pin("yarn.lock", text, "vue", "2.5.16", "2.5.15", REGISTRY)


def test_entries_of_npm_without_a_text_as_version_are_left_out() -> None:
    entries = {"node_modules/a": {"version": 1}, "node_modules/b": {"version": "1.0.0", "resolved": True}}
    text = json.dumps({"packages": entries, "dependencies": {"c": {"version": "1.0.0", "from": 1, "resolved": False}}})
    assert locked("package-lock.json", text) == [Locked("b", "1.0.0"), Locked("c", "1.0.0")]


def test_a_malformed_lock_file_has_no_packages() -> None:
    assert locked("package.json", "{}") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        *((path, "[" * 100_000) for path in ("package-lock.json", "bun.lock", "pnpm-lock.yaml")),
        ("pnpm-lock.yaml", "{a: " * 100_000),
        ("pnpm-lock.yaml", "[[]," * 100_000),
        ("pnpm-lock.yaml", "- " * 100_000 + "a"),
        ("pnpm-lock.yaml", "? " * 100_000 + "a"),
    ],
    ids=lambda text: text[:20],
)
def test_a_lock_file_that_nests_too_deep_has_no_packages(path: str, text: str) -> None:
    """The YAML parser in C ended the whole process."""
    assert locked(path, text) == [] and graph(path, text, {}) == Graph({}, {}, {})
    assert version_of(path, text, "menu", "^1.0.0") == "" and pin(path, text, "menu", "1.0.0", "1.0.1", "") == text


def test_an_entry_is_pinned_and_keeps_its_dependencies() -> None:
    after = pin("yarn.lock", YARN, "@a/b", "1.2.3", "1.2.2", REGISTRY)
    assert '  version "1.2.2"\n  resolved "https://r/@a/b/-/b-1.2.2.tgz"\n  dependencies:\n    c "^1.0.0"\n' in after
    assert after.partition("c@1.0.0:")[2] == YARN.partition("c@1.0.0:")[2]
    berry = pin("yarn.lock", BERRY, "@a/b", "1.2.3", "1.2.2", REGISTRY)
    assert '  version: 1.2.2\n  resolution: "@a/b@npm:1.2.2"\n  dependencies:' in berry
    assert "checksum: 10c0/aa" not in berry


@pytest.mark.parametrize(
    ("text", "name", "old", "header"),
    [
        (YARN, "c", "1.0.0", '"c@0.9.0", c@1.0.0:'),
        (
            YARN,
            "d",
            "https://github.com/acme/d/tarball/stable",
            '"d@0.9.0", "d@https://github.com/acme/d/tarball/stable":',
        ),
        (BERRY, "c", "1.0.0", '"c@npm:0.9.0, c@npm:1.0.0":'),
    ],
)
def test_a_pinned_entry_matches_the_manifests_new_range(text: str, name: str, old: str, header: str) -> None:
    after = pin("yarn.lock", text, name, old, "0.9.0", REGISTRY)
    assert header in after.splitlines()
    assert Locked(name, "0.9.0", ("0.9.0", old)) in locked("yarn.lock", after)


@pytest.mark.parametrize("data", [NPM, NPM_1])
def test_entries_of_npm_are_pinned_wherever_they_are(data: dict) -> None:
    after = pin("package-lock.json", json.dumps(data), "c", "1.0.0", "0.9.0", REGISTRY)
    assert Locked("c", "0.9.0", ("https://r/c/-/c-0.9.0.tgz",)) in locked("package-lock.json", after)
    assert "sha" not in json.dumps([package for package in locked("package-lock.json", after) if package.name == "c"])


@pytest.mark.parametrize(
    ("address", "rehosted"),
    [
        ("https://registry.npm.taobao.org/a/download/a-1.0.0.tgz?cache=0&other=x#ff", "https://r/a/-/a-1.0.0.tgz#ff"),
        ("https://old.example/api/npm/npm/@a/b/-/b-1.0.0.tgz#ff", "https://r/@a/b/-/b-1.0.0.tgz#ff"),
        ("https://old.example/@a/b/-/@a/b-1.0.0.tgz", "https://r/@a/b/-/b-1.0.0.tgz"),
        ("https://old.example:443/a/-/a-1.0.0.tgz#ff", "https://r/a/-/a-1.0.0.tgz#ff"),
        ("https://old.example/npm/%40a%2Fb/-/b-1.0.0.tgz", "https://r/@a/b/-/b-1.0.0.tgz"),
        ("https://old.example/-/-/--0.0.1.tgz", "https://r/-/-/--0.0.1.tgz"),
        *[("https://old.example/o/a/releases/download/v1/a.tgz",) * 2],
        ("https://old.example.org/a/-/a-1.0.0.tgz", "https://old.example.org/a/-/a-1.0.0.tgz"),
        ("https://old.example/@a%2fb/-/b-1.0.0.tgz", "https://r/@a/b/-/b-1.0.0.tgz"),
        ("https://elsewhere.example/a/-/a-1.0.0.tgz", "https://elsewhere.example/a/-/a-1.0.0.tgz"),
    ],
)
def test_addresses_of_archives_change_to_another_registry(address: str, rehosted: str) -> None:
    hosts = ("registry.npm.taobao.org", "old.example")
    text = f'  resolved "{address}"\n'
    for host in hosts:
        text = rehost(text, host, REGISTRY)
    assert text == f'  resolved "{rehosted}"\n'


@pytest.mark.parametrize(
    ("path", "text", "version"),
    [
        ("yarn.lock", f'{trees.YARN_1}\njest@^26.0.0, jest@^26.4.0:\n  version "26.6.3"\n', "26.6.3"),
        ("yarn.lock", f'{trees.YARN_1}\n"jest@^25":\n  version "25"\n\njest@^26.4.0:\n  version "26.6.3"\n', "26.6.3"),
        ("yarn.lock", f'{trees.YARN_1}\njest@^25.3.0:\n  version "25.5.4"\n', "25.5.4"),
        ("yarn.lock", f'{trees.YARN_1}\njest-cli@^26.4.0:\n  version "26.6.3"\n', ""),
        ("yarn.lock", trees.BERRY.format(8, 10) + '\n"jest@npm:^26.4.0":\n  version: 26.6.3\n', "26.6.3"),
        ("pnpm-lock.yaml", IMPORTERS, "29.7.0"),
        ("pnpm-lock.yaml", "lockfileVersion: 5.4\n\ndevDependencies:\n  jest: 27.5.1_ts-node@10.0.0\n", "27.5.1"),
        ("pnpm-lock.yaml", "lockfileVersion: 5.4\n\npackages:\n\n  /jest/27.5.1:\n    resolution: {}\n", "27.5.1"),
        ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n\npackages:\n\n  jest@29.1.2:\n    resolution: {}\n", "29.1.2"),
        ("package-lock.json", trees.package(packages={"node_modules/jest": {"version": "29.7.0"}}), "29.7.0"),
        ("package-lock.json", trees.package(dependencies={"jest": {"version": "24.9.0"}}), "24.9.0"),
        ("package-lock.json", "[]", ""),
        ("package-lock.json", "{", ""),
    ],
)  # fmt: skip
def test_the_locked_version_of_a_package_is_found(path: str, text: str, version: str) -> None:
    """By the range in package.json, if the lock file has it."""
    assert version_of(path, text, "jest", "^26.4.0") == version
