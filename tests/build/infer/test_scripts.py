"""Scripts of package.json, split into words: which program they finally call."""

from __future__ import annotations

import pytest
from trees import of, package

from pipeline.build.infer.scripts import calls, names, starts_task, task_variables
from pipeline.build.infer.tree import Manifest, Tree
from pipeline.build.infer.words import assigned, commands, launched

PROGRAMS = ("jest", "mocha", "node", "karma")


def called(scripts: dict[str, str], files: dict[str, str] | None = None, folder: str = "") -> list[str]:
    files = files or {}
    found = calls(Tree(files, files.get), folder, Manifest("package.json", {"scripts": scripts}), PROGRAMS)
    return list(dict.fromkeys(call.program for call in found))


@pytest.mark.parametrize(
    ("scripts", "programs"),
    [
        ({"test": "jest"}, ["jest"]),
        ({"test": "npm run lint && jest --ci"}, ["jest"]),
        ({"test": "npm run unit && npm run e2e", "unit": "mocha", "e2e": "cypress run"}, ["mocha"]),
        ({"test": "yarn unit", "unit": "yarn jest"}, ["jest"]),
        ({"test": "run-s lint unit:*", "unit": "jest"}, ["jest"]),
        ({"test": "run-s 'check:*'", "check:types": "tsc", "check:unit": "jest", "check:a:b": "karma"}, ["jest"]),
        ({"test": "run-s 'test:unit:* -- {@}' --", "test:unit:a": "karma start"}, ["karma"]),
        ({"test": "concurrently 'dom --ci' 'eslint .'", "dom": "jest"}, []),
        ({"test": "npm-run-all check:**", "check:a:b": "karma start"}, ["karma"]),
        ({"test": "run-p test:*", "test:a": "node test/require/node.js", "test:unit": "karma start"}, ["karma"]),
        ({"test": "npm test"}, []),
        ({"test": "npm run a", "a": "npm run test"}, []),
        ({"test": "./node_modules/.bin/_mocha"}, ["mocha"]),
        ({"test": "node --test"}, ["node"]),
        ({"test": "node build.js"}, []),
        ({"test": "lerna run test"}, []),
        ({"test": "eslint ."}, []),
        ({"build": "jest"}, []),
        ({"test": "jest; mocha"}, ["jest", "mocha"]),
        ({"test": "echo 'no end"}, []),
        ({"test": ""}, []),
    ],
)
def test_the_programs_that_scripts_call_are_found(scripts: dict[str, str], programs: list[str]) -> None:
    assert called(scripts) == programs


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("yarn workspace @x/ui unit", "jest"),
        ("pnpm --filter @x/ui unit", "jest"),
        ("pnpm --filter=./packages/ui unit", "jest"),
        ("pnpm -C packages/ui run unit", "jest"),
        ("npm run unit -w @x/ui", "jest"),
        ("npm --prefix packages/ui run unit", "jest"),
        ("A=1 yarn --cwd packages/ui unit", "jest"),
        ("pnpm --filter @x/ui exec jest --ci", "jest"),
        ("pnpm -w unit", "karma"),
        ("yarn unit -- --filter @x/ui", "karma"),
    ],
)
def test_the_script_of_a_chosen_package_is_followed(command: str, program: str) -> None:
    """A job of CI that tests so was not recognized, and the root's script of the same name was read in its place."""
    files = {
        "package.json": package(scripts={"test": command, "unit": "karma start"}),
        "packages/ui/package.json": package(name="@x/ui", scripts={"unit": "jest --ci"}),
    }
    found = list(calls(of(files), "", of(files).root(), PROGRAMS, ("test",)))
    assert [(call.program, call.folder) for call in found] == [(program, "packages/ui" if program == "jest" else None)]


def test_a_shell_file_is_searched() -> None:
    files = {"scripts/test.sh": 'node="yarn node"\n$node "$(yarn bin jest)" "$@"\n', "scripts/lint.sh": "eslint .\n"}
    assert called({"test": "./scripts/test.sh"}, files) == ["jest"]
    assert called({"test": "../../scripts/test.sh"}, files, "packages/ui") == ["jest"]
    assert called({"test": "scripts/lint.sh && scripts/none.sh"}, files) == []


def test_a_file_that_node_runs_is_searched() -> None:
    """A script of another kind was taken instead, because it calls a runner itself."""
    files = {"run.js": 'spawn("mocha", ["--config", "x"])', "test.bash": "jest $@\n", "b.js": "build()"}
    assert called({"test": "cross-env CI=1 node --trace ./run.js"}, files) == ["mocha"]
    assert called({"test": "bash test.bash"}, files) == ["jest"]
    assert called({"test": "node b.js && eslint run.js"}, files) == []
    assert called({"test": "node b.js"}, {"b.js": "// starts the page in which mocha runs\nbrowse();"}) == []


LAUNCHER = """
process.env.BABEL_ENV = process.env.BABEL_ENV || "test";
const options = ["--require", "x"];
execSync(`NODE_ENV=test mocha --recursive --require dom.js ${files}`, { stdio: "inherit" });
"""


@pytest.mark.parametrize(
    ("script", "path"),
    [
        ("node ./scripts/test-unit", "scripts/test-unit.js"),
        ("node -r esm scripts/test-unit --all", "scripts/test-unit.cjs"),
        ("A=1 tsx scripts/test-unit", "scripts/test-unit.ts"),
        ("node --trace scripts", "scripts/index.js"),
        ("node scripts/test.js", "scripts/test.js"),
    ],
)
def test_what_a_file_of_node_gives_to_the_runner_is_known(script: str, path: str) -> None:
    """Neither the file without its extension was found, nor the words and variables that it gives to Mocha."""
    files = {path: LAUNCHER}
    manifest = Manifest("package.json", {"scripts": {"test": script}})
    (call,) = calls(Tree(files, files.get), "", manifest, PROGRAMS)
    assert (call.program, call.words) == ("mocha", ("--recursive", "--require", "dom.js"))
    assert call.env == {"BABEL_ENV": "test", "NODE_ENV": "test"} | ({"A": "1"} if "A=1" in script else {})
    assert call.evidence.startswith(f"package.json: scripts.test: {path} names NODE_ENV=test mocha")


@pytest.mark.parametrize(
    "script", ["node build scripts/test", "eslint scripts/test", "node scripts/none", "node -r scripts/test build"]
)
def test_only_the_file_that_node_runs_is_found_without_its_extension(script: str) -> None:
    assert called({"test": script}, {"scripts/test.js": 'run("jest", ["-i"])', "build.js": ""}) == []


@pytest.mark.parametrize(
    ("word", "text", "programs"),
    [
        ("scripts/test.js", "require('jest').run(words)", ["jest"]),
        ("scripts/test", "require('jest').run(words)", []),
        ("scripts/test", "run('jest', ['--ci'])", ["jest"]),
    ],
)
def test_a_file_without_its_extension_must_say_how_the_runner_is_called(
    word: str, text: str, programs: list[str]
) -> None:
    """It gave Jest a configuration of its own. A package's tests ran at the root until such a file was found."""
    assert called({"test": f"node {word}"}, {"scripts/test.js": text}) == programs


@pytest.mark.parametrize(
    ("text", "files", "words"),
    [
        ('run("mocha"); load("../test/mocha.conf.js")', ["test/mocha.conf.js"], ("--config", "test/mocha.conf.js")),
        ('run("jest"); load("test/jest.unit.config.js")', ["test/jest.unit.config.js"],
         ("--config", "test/jest.unit.config.js")),
        ('run("mocha"); load("test/mocha.opts")', ["test/mocha.opts"], ("--opts", "test/mocha.opts")),
        ('run("karma", ["start"]); load("./karma.local.js"); load("karma-x.conf.js")', ["karma-x.conf.js"],
         ("start", "--config", "karma-x.conf.js")),
        ('run("karma"); load("karma.conf.js")', ["karma.conf.js"], ()),
        ('run("mocha"); load("webpack.config.js"); load("mocha.js")', ["webpack.config.js", "mocha.js"], ()),
        ('run("jest"); load("jest.a.conf.js"); load("jest.b.conf.js")', ["jest.a.conf.js", "jest.b.conf.js"], ()),
        ('run("jest"); load("jest.config.js")', [], ()),
        ('run("jest", ["-c", "a.json"]); load("jest.config.js")', ["jest.config.js"], ("-c", "a.json")),
    ],
)  # fmt: skip
def test_the_only_configuration_that_a_file_of_node_names_is_used(
    text: str, files: list[str], words: tuple[str, ...]
) -> None:
    """It was lost, and the runner started without it."""
    texts = {"scripts/test.js": text, **dict.fromkeys(files, "")}
    manifest = Manifest("package.json", {"scripts": {"test": "node scripts/test.js"}})
    (call,) = calls(Tree(texts, texts.get), "", manifest, PROGRAMS)
    assert call.words == words


NAMED_LIKE_IT = """
process.env.NODE_ICU_DATA = "node_modules/full-icu";
require("jest").run(%s);
"""


@pytest.mark.parametrize("path", ["scripts/jest.js", "scripts/jest", "scripts/unit.js"])
def test_a_file_named_like_the_runner_is_read(path: str) -> None:
    """Hundreds of candidates lost the variable: the file was taken for Jest itself."""
    files = {path: NAMED_LIKE_IT % "process.argv.slice(2)"}
    manifest = Manifest("package.json", {"scripts": {"test": f"CI=1 node {path} --env=jsdom"}})
    (call,) = calls(Tree(files, files.get), "", manifest, PROGRAMS)
    assert (call.program, call.words) == ("jest", ("--env=jsdom",))
    assert call.env == {"CI": "1", "NODE_ICU_DATA": "node_modules/full-icu"}


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("unit.js", NAMED_LIKE_IT % "process.argv.slice(2)", ("-w",)),
        ("unit.js", NAMED_LIKE_IT % "words", ()),
        ("unit.js", "const a = require('minimist')(process.argv.slice(2)); run('jest')", ()),
        ("jest.js", NAMED_LIKE_IT % "words", ("-w",)),
        ("jest.js", "import('./cli.js')", ("-w",)),
    ],
)
def test_words_that_a_file_hands_on_are_the_runners(path: str, text: str, words: tuple[str, ...]) -> None:
    """They were lost, unless the file had the runner's name."""
    files = {path: text}
    manifest = Manifest("package.json", {"scripts": {"test": f"node {path} -w"}})
    (call,) = calls(Tree(files, files.get), "", manifest, PROGRAMS)
    assert (call.program, call.words) == ("jest", words)


@pytest.mark.parametrize(
    ("script", "text", "options"),
    [
        ("node --loader=double run.js", "require('mocha')", ("--loader=double",)),
        ("node -r esm --trace run.js", "require('mocha')", ("-r", "esm", "--trace")),
        ("node run.js", "require('mocha')", ()),
        ("node --loader=double run.js", "spawn('mocha', ['-b'])", ()),
    ],
)
def test_options_of_node_are_those_of_the_runner_that_a_file_loads(
    script: str, text: str, options: tuple[str, ...]
) -> None:
    """The loader with the tests' doubles was lost."""
    files = {"run.js": text}
    manifest = Manifest("package.json", {"scripts": {"test": script}})
    (call,) = calls(Tree(files, files.get), "", manifest, PROGRAMS)
    assert call.node == options


def test_a_file_of_node_runs_in_the_folder_of_its_command() -> None:
    files = {"scripts/test.js": 'run("mocha"); load("./mocha.conf.js")', "scripts/mocha.conf.js": ""}
    manifest = Manifest("packages/ui/package.json", {"scripts": {"test": "cd ../.. && node scripts/test"}})
    (call,) = calls(Tree(files, files.get), "packages/ui", manifest, PROGRAMS)
    assert (call.folder, call.words) == ("", ("--config", "scripts/mocha.conf.js"))
    manifest = Manifest("packages/ui/package.json", {"scripts": {"test": "node ../../scripts/test"}})
    (call,) = calls(Tree(files, files.get), "packages/ui", manifest, PROGRAMS)
    assert (call.folder, call.words) == (None, ("--config", "../../scripts/mocha.conf.js"))


def test_scripts_for_other_kinds_of_tests_come_last() -> None:
    scripts = dict.fromkeys(("test:vrt", "test:a11y", "spec", "unit", "pretest", "test:e2e"), "")
    assert names(Manifest("package.json", {"scripts": scripts})) == ["unit", "spec", "test:vrt", "test:a11y"]


SHELL = """#!/bin/sh
export BABEL_ENV=test
cd ..
if [ -n "$CI" ]; then
  echo "run karma"
  NODE_ENV=test node_modules/.bin/karma start "$@" \\
    --no-auto-watch
fi
"""


def test_a_shell_file_is_read_line_by_line() -> None:
    """The script called Karma by its path and passed its configuration and browsers; Mocha was inferred."""
    files = {"scripts/test": SHELL}
    manifest = Manifest("package.json", {"scripts": {"test": "A=1 scripts/test unit.conf.js --browsers Firefox"}})
    (call,) = calls(Tree(files, files.get), "", manifest, PROGRAMS)
    assert call.words == ("start", "unit.conf.js", "--browsers", "Firefox", "--no-auto-watch")
    assert call.env == {"A": "1", "BABEL_ENV": "test", "NODE_ENV": "test"}
    assert call.evidence.startswith("package.json: scripts.test: scripts/test: NODE_ENV=test node_modules/.bin/karma")


@pytest.mark.parametrize("line", ["echo jest", "npm install --no-save jest", "rm -rf .cache/jest", "yarn add jest"])
def test_lines_that_only_mention_a_program_do_not_start_it(line: str) -> None:
    files = {"test.sh": f"{line}\nmocha\n"}
    assert called({"test": "sh test.sh"}, files) == ["mocha"]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("NODE_OPTIONS=$NODE_OPTIONS --expose-gc", "--expose-gc"),
        ("NODE_OPTIONS=--expose-gc ${NODE_OPTIONS:-}", "--expose-gc"),
        ("TZ=${TZ:-UTC}", "UTC"),
        ("PATH=./bin:$PATH", None),
        ("NODE_ENV=", ""),
    ],
)
def test_only_known_values_of_variables_are_kept(word: str, value: str | None) -> None:
    """Node refused a literal `$NODE_OPTIONS`, which a shell would have replaced."""
    assert assigned([word]) == ({} if value is None else {word.partition("=")[0]: value})
    assert launched([word, "jest"]) == ["jest"]


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("pnpm --filter ui test:unit", "test:unit"),
        ("npm --prefix ui run jest", "jest"),
        ("npx -p jest jest -i", "jest"),
        ("pnpm -r --filter=ui jest", "jest"),
        ("npm run", None),
        ("jest --filter ui", "jest"),
    ],
)
def test_the_values_of_a_managers_options_are_no_programs(text: str, program: str | None) -> None:
    """A package with a program of its name was taken for the repository's own test command."""
    assert next(iter(launched(text.split())), None) == program


def test_commands_are_split_and_quotes_are_kept() -> None:
    assert list(commands("A=1 a 'b c' && (d || e); f")) == [["A=1", "a", "b c"], ["d"], ["e"], ["f"]]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("mocha $(find src -name '*.test.js') --exit", ["mocha", "$(find src -name '*.test.js')", "--exit"]),
        ('mocha `ls "a b"/*.js` x', ["mocha", '`ls "a b"/*.js`', "x"]),
        ('mocha "$(ls test)" x', ["mocha", "$(ls test)", "x"]),
        ("node $(which mocha) x", ["node", "node_modules/.bin/mocha", "x"]),
        ("echo '$(a' && b", ["echo", "$(a"]),
    ],
)
def test_a_substitution_is_one_word(script: str, words: list[str]) -> None:
    """The words after it (`--exit`) were lost, and a lone `$` was taken for the name of a test."""
    assert next(commands(script)) == words


HANDED = [
    ("yarn base --config unit.js", ("--config", "unit.js"), {}),
    ("npm run base -- --config unit.js", ("--config", "unit.js"), {}),
    ("cross-env MODE=jsdom pnpm base -i", ("-i",), {"MODE": "jsdom"}),
    ("export MODE=jsdom && pnpm base", (), {"MODE": "jsdom"}),
    ("npm run base -- dirs=core", ("dirs=core",), {}),
    ("npm run base --silent lib", ("lib",), {}),
    ("npm run base --silent lib -- --ci", ("lib", "--ci"), {}),
    ("yarn both --ci", (), {}),
    ("run-s base --silent", (), {}),
    ('concurrently "npm:lint" "npm:base"', (), {}),
    ('concurrently -k "eslint ." "MODE=jsdom yarn base -i"', ("-i",), {"MODE": "jsdom"}),
]


@pytest.mark.parametrize(("script", "words", "env"), HANDED)
def test_arguments_that_a_script_passes_to_another_are_kept(
    script: str, words: tuple[str, ...], env: dict[str, str]
) -> None:
    """Without the variable, a configuration started a browser; without `--config`, tests had no configuration."""
    scripts = {"test": script, "base": "jest", "both": "jest && eslint", "lint": "eslint ."}
    (call,) = calls(Tree({}, {}.get), "", Manifest("package.json", {"scripts": scripts}), PROGRAMS)
    assert (call.program, call.words, call.env) == ("jest", words, env)


@pytest.mark.parametrize(
    ("script", "folder"),
    [
        ("cd ../../ && mocha 'packages/ui/**/*.test.js'", ""),
        ("cd ../../packages/all && npm test", "packages/all"),
        ("cd $HOME && mocha", None),
        ("cd ../../.. && mocha", None),
        ("mocha", None),
        ("(cd ../all && build); mocha", None),
        ("((cd ../all); cd lib && build) && mocha", None),
        ("(cd ../all && mocha)", "packages/all"),
    ],
)
def test_a_change_of_folder_in_a_script_is_followed(script: str, folder: str | None) -> None:
    """From the package's folder, Mocha did not find the root's configuration."""
    files = {"packages/all/package.json": '{"scripts": {"test": "mocha"}}'}
    manifest = Manifest("packages/ui/package.json", {"scripts": {"test": script}})
    (call,) = calls(Tree(files, files.get), "packages/ui", manifest, PROGRAMS)
    assert (call.program, call.folder) == ("mocha", folder)


def test_variables_of_a_task_are_kept() -> None:
    manifest = Manifest("package.json", {"scripts": {"test": "npm run lint && NODE_ENV=test grunt travis"}})
    assert (starts_task(manifest), task_variables(manifest)) == (True, {"NODE_ENV": "test"})
    assert not starts_task(Manifest("package.json", {"scripts": {"test": "NODE_ENV=test jest"}}))


@pytest.mark.parametrize(
    ("script", "packages", "node", "env"),
    [
        ("babel-node $(npm bin)/karma start", {}, ("--require", "babel-register"), {}),
        ("X=1 babel-node `npm bin`/karma", {"@babel/node": "^7"}, ("--require", "@babel/register"), {"X": "1"}),
        (
            "ts-node -P t.json node_modules/mocha/bin/_mocha",
            {},
            ("--require", "ts-node/register"),
            {"TS_NODE_PROJECT": "t.json"},
        ),
        ("tsx node_modules/.bin/mocha", {}, ("--import", "tsx"), {}),
        ("node --expose-gc node_modules/.bin/mocha", {}, ("--expose-gc",), {}),
    ],
)
def test_programs_that_load_modules_before_the_runner_are_followed(
    script: str, packages: dict[str, str], node: tuple[str, ...], env: dict[str, str]
) -> None:
    """A Karma configuration needed Babel, which stood before Karma in the script."""
    manifest = Manifest("package.json", {"scripts": {"test": script}, "devDependencies": packages})
    (call,) = calls(Tree({}, {}.get), "", manifest, PROGRAMS)
    assert (call.node, call.env) == (node, env)


MAKEFILE = """
.PHONY: all
BIN := ./node_modules/.bin
all: lint test

lint:
\t@eslint .

test: build test-unit
test-unit: test
\t# a remark
\t@NODE_ENV=test $(BIN)/_mocha --require babel-register \\
\t  test
"""


@pytest.mark.parametrize(
    ("script", "target"), [("make test", "make test"), ("make", "make all"), ("make -s X=1", "make all")]
)
def test_makefile_targets_are_followed(script: str, target: str) -> None:
    """Without its variable, Babel did not compile the tests."""
    files = {"Makefile": MAKEFILE}
    (call,) = calls(Tree(files, files.get), "", Manifest("package.json", {"scripts": {"test": script}}), PROGRAMS)
    assert (call.program, call.words, call.env) == (
        "mocha",
        ("--require", "babel-register", "test"),
        {"NODE_ENV": "test"},
    )
    assert f"scripts.test -> {target} -> " in call.evidence


def test_included_makefiles_are_read() -> None:
    files = {"lib/makefile": "-include ../a.mk none.mk # both\n", "a.mk": f"include ../a.mk\n{MAKEFILE}"}
    assert called({"test": "make test"}, files, "lib") == ["mocha"]


def test_a_missing_makefile_target_calls_nothing() -> None:
    assert called({"test": "make test"}) == called({"test": "make none"}, {"Makefile": MAKEFILE}) == []
