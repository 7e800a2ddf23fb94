"""Files that Node runs to start a program: the words and variables that their literals give it."""

from __future__ import annotations

import pytest

from pipeline.build.infer.launchers import command, variables


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('exec("NODE_ENV=test mocha --opts a.opts src")', ["NODE_ENV=test", "mocha", "--opts", "a.opts", "src"]),
        ("exec(`mocha --config a.js --grep ${words}`)", ["mocha", "--config", "a.js"]),
        ("exec(`mocha --recursive --config=${path}`, {})", ["mocha"]),
        ("exec(`mocha --config a.js ${files}`)", ["mocha", "--config", "a.js"]),
        ("exec('mocha --config a.js ' + files)", ["mocha", "--config", "a.js"]),
        ("exec('mocha --config ' + path)", ["mocha"]),
        ("exec('mocha --con' + 'fig a.js')", ["mocha", "--config", "a.js"]),
        ("exec('npm run build && cross-env A=b mocha -r x | tee log')", ["cross-env", "A=b", "mocha", "-r", "x"]),
        ("exec('mocha --recursive', { stdio: 'inherit' })", ["mocha", "--recursive"]),
        ('spawn("mocha", ["--config", "a.js"], { stdio: "inherit" })', ["mocha", "--config", "a.js"]),
        ("spawn('node', ['node_modules/.bin/mocha', '--ui', 'tdd'])", ["node_modules/.bin/mocha", "--ui", "tdd"]),
        ('spawn(require.resolve("mocha/bin/_mocha"), ["--ui", "tdd"])', ["mocha/bin/_mocha", "--ui", "tdd"]),
        ('["mocha", "--ui", "tdd"].concat(["--timeout", "9"])', ["mocha", "--ui", "tdd", "--timeout", "9"]),
        ('["mocha", "--ui", "tdd"].concat(process.argv)', ["mocha", "--ui", "tdd"]),
        ('["mocha", "--ui", "tdd", ...rest]', ["mocha", "--ui", "tdd"]),
        ('["mocha", "--ui", "tdd", "--require", babel]', ["mocha", "--ui", "tdd"]),
        ('["mocha", "--ui", `${ui}`]', ["mocha"]),
        ("spawn('mocha', args)", ["mocha"]),
        ("nyc('nyc mocha --ui tdd')", ["nyc", "mocha", "--ui", "tdd"]),
        ("const mocha = require('mocha');\nlog('mocha ended with an error');\n", []),
        ("import mocha from 'mocha';\nimport 'mocha';\n", []),
        ("require('mocha'); run(['mocha', '--ui', 'tdd'])", ["mocha", "--ui", "tdd"]),
        ("exec('eslint mocha')", []),
        ('exec("mocha \'src")', []),
        ("", []),
    ],
)
def test_the_words_of_a_program_are_those_that_are_known(source: str, words: list[str]) -> None:
    """A word of which only a part is known is left out, and so is an option without its value."""
    assert command(source, "mocha") == words


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("process.env.NODE_ENV = 'test';\nprocess.env['A'] = \"b c\"", {"NODE_ENV": "test", "A": "b c"}),
        ("process.env.A ||= 'b'; process.env.C = process.env.C || 'd'", {"A": "b", "C": "d"}),
        ("process.env.EMPTY = ''", {"EMPTY": ""}),
        ("if (process.env.A === 'b') run(process.env.C)", {}),
        ("process.env.A = b; process.env.PATH = './bin'; process.env.C = `${d}`", {}),
    ],
)
def test_variables_that_a_file_sets_are_known(source: str, found: dict[str, str]) -> None:
    assert variables(source) == found
