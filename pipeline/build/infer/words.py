"""Shell texts as words: the commands of a script, and the program that a word stands for. Nothing is run or expanded.

A substitution (`$(find src -name '*.test.js')`) is one word, which is known only when the script runs.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress

#: how scripts call the folder of programs, and a program in it
_FOLDER = re.compile(r"\$\((?:npm|yarn|pnpm) bin\)|`(?:npm|yarn|pnpm) bin`")
_IN_FOLDER = re.compile(r"\$\((?:yarn bin|npm bin|pnpm bin|which|command -v) ([\w.-]+)\)")
#: a quoted text; a substitution outside of quotes
_SUBSTITUTION = re.compile(
    r"""(?P<quoted>'[^']*'|"(?:\\.|[^"\\])*")|(?P<open>\$\((?:[^()'"]|'[^']*'|"[^"]*")*\)|`[^`]*`)"""
)
#: the brackets around commands that a subshell runs
OPENED, CLOSED = ["("], [")"]
_OPERATORS = re.compile(r"^[&|;()]+$")
#: programs that start the program after them, and those of their commands that do
_LAUNCHERS = frozenset({
    "npm", "npx", "yarn", "pnpm", "pnpx", "bun", "bunx", "exec", "run", "dlx",
    "env", "cross-env", "cross-env-shell", "env-cmd", "dotenv", "dotenvx", "time",
})  # fmt: skip
#: options of managers that choose a package, by its name or folder, for what they run; and all options of the programs
#: above that take a value
CHOOSING = frozenset({"--filter", "-F", "--workspace", "--prefix", "-C", "--dir", "--cwd"})
_WITH_VALUE = CHOOSING | {"--scope", "--package", "-p"}
#: the path of an environment file, which assigns variables
_ENVIRONMENT = re.compile(r"(?:^|[./])env(?:\.(?!js)[^/]*)?$")
_DEFAULT = re.compile(r"\$\{\w+:?-([^${}]*)\}")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def commands(script: str) -> Iterator[list[str]]:
    """The commands of a script, each as its words, up to the first that cannot be read."""
    return (words for words in parts(script) if words not in (OPENED, CLOSED))


def parts(script: str) -> Iterator[list[str]]:
    """The commands of a script, and where subshells begin and end."""
    known = _IN_FOLDER.sub(r"node_modules/.bin/\1", _FOLDER.sub("node_modules/.bin", script))
    reader = shlex.shlex(_SUBSTITUTION.sub(_one_word, known), posix=True, punctuation_chars=True)
    reader.whitespace_split, reader.commenters = True, ""
    words: list[str] = []
    try:
        for word in reader:
            if not _OPERATORS.match(word):
                words.append(word)
                continue
            if words:
                yield words
                words = []
            yield from ([sign] for sign in word if [sign] in (OPENED, CLOSED))
    except ValueError:  # a quote that is never closed
        return
    if words:
        yield words


def program(word: str) -> str:
    """The name of the program that a word may stand for: `./node_modules/.bin/jest`, `mocha/bin/_mocha`, `jest.js`."""
    return re.sub(r"\.(?:[cm]?js|cmd)$", "", posixpath.basename(word)).removeprefix("_")


def assigned(words: Sequence[str]) -> dict[str, str]:
    """The variables that words assign (`NODE_ENV=test`). What is known only when the script runs is left out, such as
    the rest of `$NODE_OPTIONS --expose-gc`."""
    texts = {match[1]: match[2] for match in map(_ASSIGNMENT.fullmatch, words) if match}
    known = {name: _known(text) if is_unknown(text) else text for name, text in texts.items()}
    return {name: text for name, text in known.items() if text or not texts[name]}


def assigned_in(text: str) -> dict[str, str]:
    """The variables that the lines of an environment file (`.env`) assign. Lines that cannot be read are left out."""
    found: list[str] = []
    for line in text.splitlines():
        with suppress(ValueError):  # a quote that is never closed
            found += shlex.split(line, comments=True)
    return assigned(found)


def is_environment_file(word: str) -> bool:
    """Whether a word is the path of such a file: `.env`, `config/.env.test`, `test.env`."""
    return bool(_ENVIRONMENT.search(word))


def is_assignment(word: str) -> bool:
    """Whether a word assigns a variable."""
    return bool(_ASSIGNMENT.fullmatch(word))


def _known(text: str) -> str:
    """The words of a value that are known before the script runs, with the defaults of variables."""
    return " ".join(word for word in _DEFAULT.sub(r"\1", text).split() if not is_unknown(word))


def launched(words: Sequence[str]) -> list[str]:
    """The words of a command from the program that it finally starts: without leading variables, programs that only
    start others (`npx`, `cross-env`), and their options."""
    for index, (before, word) in enumerate(zip(("", *words), words, strict=False)):
        is_option = word.startswith("-") or before in _WITH_VALUE
        if not (is_option or program(word) in _LAUNCHERS or is_assignment(word) or is_environment_file(word)):
            return list(words[index:])
    return []


def is_closed(text: str) -> bool:
    """Whether every quote of a text is closed in it."""
    try:
        shlex.split(text)
    except ValueError:
        return False
    return True


def is_unknown(word: str) -> bool:
    """Whether a word has a variable or a substitution, so that its value is known only when the script runs."""
    return bool(re.search(r"[$`]", word))


def _one_word(match: re.Match[str]) -> str:
    text = match["open"]
    return match[0] if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
