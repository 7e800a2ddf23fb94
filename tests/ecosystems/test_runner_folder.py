"""What the tables of test runners say about real versions and commands."""

from __future__ import annotations

import pytest
from factories import make_environment

from pipeline.core.errors import UserError
from pipeline.core.records import Environment
from pipeline.ecosystems.reports import ReportError
from pipeline.ecosystems.runner_folder import Documents, Wrapper, all_parsers, all_runners, parser, runner


@pytest.mark.parametrize(
    ("name", "version", "has", "lacks"),
    [
        (
            "jest",
            "29.7.0",
            ["--testTimeout=60000", "--bail=0", "--ci"],
            ["--bail=false", "--testResultsProcessor={reporter}"],
        ),
        ("jest", "24.8.0", ["--bail=0"], ["--testTimeout=60000"]),
        ("jest", "23.6.0", ["--bail=false", "--ci"], ["--bail=0"]),
        ("jest", "19.0.2", ["--testResultsProcessor={reporter}"], ["--ci"]),
        ("jest", "", ["--testTimeout=60000"], ["--bail=false"]),
        ("vitest", "0.29.4", ["--outputFile={report}", "--coverage=false"], ["--testTimeout=60000", "--bail=0"]),
        ("vitest", "1.3.0", ["--outputFile.json={report}", "--hookTimeout=60000"], ["--outputFile={report}"]),
        ("mocha", "5.2.0", ["--timeout=60000"], ["--no-bail", "--no-parallel"]),
        ("mocha", "10.0.0", ["--no-bail", "--no-parallel"], []),
    ],
)
def test_options_follow_the_version(name: str, version: str, has: list[str], lacks: list[str]) -> None:
    """A runner fails if it does not know an option."""
    words = runner(name).merged(version).words
    assert [word for word in has if word not in words] == [] == [word for word in lacks if word in words]


@pytest.mark.parametrize(
    ("call", "patient"),
    [([], True), (["--timeout", "5000"], False), (["--timeout=5000"], False), (["-t", "1"], False), (["--time"], True)],
)
def test_the_repositorys_own_option_replaces_ours(call: list[str], patient: bool) -> None:
    assert ("--timeout=60000" in runner("mocha").merged("10.0.0", call).words) is patient


def test_the_parser_follows_the_version() -> None:
    assert [runner("jest").merged(version).parser for version in ("20.0.0", "21.0.0", "")] == [
        "jest20-json",
        "jest-json",
        "jest-json",
    ]


@pytest.mark.parametrize("name", all_runners())
def test_every_version_writes_a_report(name: str) -> None:
    """In every version, options or a variable say where the report goes."""
    found = runner(name).merged("")
    assert any("{report}" in text for text in (*found.words, *found.env.values()))
    assert found.parser in runner(name).parsers


# -- another version of a command ------------------------------------------------------------------------------------
def jest(version: str, *before: str, after: tuple[str, ...] = (), **more: object) -> Environment:
    """An environment with Jest's options for a version, among others."""
    words = runner("jest").merged(version)
    test = (*before, *words.words, *after)
    return make_environment(
        runner_version=version, test=test, selection=words.selection or (), parser=words.parser, **more
    )


def test_a_command_is_adapted_to_the_installed_version() -> None:
    old = jest("29.7.0", "npx", "jest", after=("--config", "a.js"), test_env={"TZ": "UTC"})
    new = runner("jest").adapted(old, "23.6.0")
    assert new.runner_version == "23.6.0"
    assert new.test[:2] == ("npx", "jest") and new.test[-2:] == ("--config", "a.js")
    assert "--bail=false" in new.test and "--bail=0" not in new.test and new.test_env == {"TZ": "UTC"}


def test_the_parser_is_adapted_with_the_command() -> None:
    assert runner("jest").adapted(jest("29.7.0", "jest"), "20.0.4").parser == "jest20-json"


def test_the_repositorys_own_command_is_not_changed() -> None:
    """Overrides may contain any command."""
    own = make_environment(runner_version="29.7.0", test=("npx", "jest", "--json"))
    new = runner("jest").adapted(own, "23.6.0")
    assert new.test == own.test and new.runner_version == "23.6.0"


def test_a_version_with_the_same_options_changes_nothing_else() -> None:
    old = jest("29.7.0", "npx", "jest")
    assert runner("jest").adapted(old, "29.6.4") == old.model_copy(update={"runner_version": "29.6.4"})


# -- wrappers ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("file", "builder", "includes"),
    [
        ("angular.json", "@angular/build:unit-test", True),
        ("angular.json", "@angular-devkit/build-angular:karma", False),
        ("angular.json", "", False),
        ("", "@angular/build:unit-test", False),
    ],
)
def test_a_wrapper_includes_a_runner_by_a_project_and_its_builder(file: str, builder: str, includes: bool) -> None:
    (angular,) = (wrapper for wrapper in runner("vitest").wrapper if wrapper.program == "ng")
    assert angular.includes(file, builder) is includes


def test_a_wrapper_without_a_file_always_includes_it() -> None:
    assert Wrapper(program="a", package="a", command="a").includes("", "")


@pytest.mark.parametrize(
    ("files", "starts"),
    [
        (["src/a.e2e.ts"], True),
        (["src/test/basic/e2e.ts"], True),
        (["src/a.spec.ts", "e2e/a.spec.ts"], False),
        ([], False),
    ],
)
def test_a_wrapper_starts_a_browser_for_some_tests(files: list[str], starts: bool) -> None:
    """Stencil tells them by the names of their files."""
    (stencil,) = (wrapper for wrapper in runner("jest").wrapper if wrapper.program == "stencil")
    assert stencil.starts_browser(files) is starts
    assert not Wrapper(program="a", package="a", command="a").starts_browser(files)


# -- documents ---------------------------------------------------------------------------------------------------------
def test_documents_are_saved_by_node_options_or_arguments() -> None:
    documents = Documents(files=("d.cjs",), node_options="--require={folder}/d.cjs", words=("--config={folder}/v.mjs",))
    environment = make_environment(test=("vitest", "run"), test_env={"NODE_OPTIONS": "--no-warnings", "A": "b"})
    found = documents.apply_to(environment, "/opt/axe")
    assert found.test == ("vitest", "run", "--config=/opt/axe/v.mjs")
    assert found.test_env == {"NODE_OPTIONS": "--no-warnings --require=/opt/axe/d.cjs", "A": "b"}
    assert environment.test_env["NODE_OPTIONS"] == "--no-warnings"


def test_without_options_of_node_none_are_set() -> None:
    found = Documents(files=("v.mjs",), words=("-c", "{folder}")).apply_to(make_environment(test_env={}), "/x")
    assert found.test_env == {} and found.test[-2:] == ("-c", "/x")


# -- parsers -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", all_parsers())
def test_a_parser_knows_its_runner_and_refuses_malformed_reports(name: str) -> None:
    found = parser(name)
    assert found.name == name and name in runner(found.runner).parsers
    with pytest.raises(ReportError):
        found.read(b"\x00 no report", "/repo")


@pytest.mark.parametrize("name", all_runners())
def test_the_usual_parser_lacks_no_more_than_any_other(name: str) -> None:
    found = runner(name)
    assert all(len(found.lacks()) <= len(found.lacks(other)) for other in found.parsers)


@pytest.mark.parametrize(
    ("output", "announced"),
    [
        (b"Test results written to: /opt/reports/report.json\n", True),
        (b"noise\nTest results written to: ../reports/report.json  \nmore\n", True),
        (b"Test results written to: /opt/reports/other.json\n", False),
        (b"  Test results written to: /opt/reports/report.json\n", True),
        (b"- <butTest results written to: /opt/reports/report.json\nton>\n", True),
        (b"Test results written to: /opt/reports/report.json.bak\n", False),
        (b"", False),
        (b"\xff\xfe", False),
    ],
)
def test_a_runner_announces_its_report(output: bytes, announced: bool) -> None:
    """Jest prints failures on another stream, in pieces: the announcement came between two of them."""
    assert parser("jest-json").announced(output, "/opt/reports/report.json") is announced


def test_a_runner_that_announces_nothing_needs_no_announcement() -> None:
    assert parser("playwright-json").announced(b"", "/opt/reports/report.json")


@pytest.mark.parametrize("ask", [runner, parser])
def test_an_unknown_name_is_refused_with_a_list(ask: object) -> None:
    with pytest.raises(UserError, match="unknown") as error:
        ask("nobody")
    assert "jest" in str(error.value.hint)
