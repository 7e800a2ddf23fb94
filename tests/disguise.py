"""Runs sources and a test in a Node process whose test is disguised."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from pipeline.execution import counter

#: a document whose elements a library has made: their methods are not native, and they have a symbol of their own
PAGE = """
const IMPL = Symbol("impl");
const within = (node) => { if (!node[IMPL]) throw new TypeError("Illegal invocation"); return node; };
class Node {
  constructor() { Object.defineProperty(this, IMPL, { value: {} }); }
  get nodeType() { return within(this) && 1; }
  get ownerDocument() { return within(this) && document; }
}
class Element extends Node {
  get checked() { return within(this) && false; }
  getAttribute(name) { return "true " + name; }
  matches() { return true; }
  focus() { return "real"; }
}
class Document extends Node { createElement() { return new Element(); } }
const document = new Document();
const getComputedStyle = () => ({ display: "none" });
document.defaultView = Object.assign(globalThis, { Node, Element, Document, document, getComputedStyle });
"""


def prepare(place: Path) -> Path:
    """Make a repository in a folder, and the disguise beside it. Returns the module that a disguised test file loads
    first."""
    folder, repo = place / "scratch" / "begin", place / "repo"
    folder.mkdir(parents=True)
    (repo / "node_modules" / "library").mkdir(parents=True)
    for name in counter.DISGUISE:
        shutil.copy(Path(counter.__file__).with_name(name), folder)
    tests = ["Menu.test.cjs", "Other.test.cjs"]
    about = {"root": str(repo), "former": "", "files": tests, "tests": tests, "boxes": True, "host": "www.lamps.com"}
    about |= {"manifests": ["package.json", "sibling/package.json"], "alone": ["child_process", "net"]}
    (folder / "askers.json").write_text(json.dumps(about))
    (repo / "Other.test.cjs").touch()
    (repo / "package.json").write_text("{}")
    return folder / "begin.cjs"


def install(begin: Path, text: str, name: str = "library") -> None:
    """Give the repository a package of one file."""
    folder = begin.parents[2] / "repo" / "node_modules" / name
    folder.mkdir(exist_ok=True)
    (folder / "index.js").write_text(text)


def put(begin: Path, source: str, test: str, *, made: str, disguised: bool) -> Path:
    """Write a source, which is the body of a function, and a test that calls it with an element and then does this.
    Returns the repository."""
    repo = begin.parents[2] / "repo"
    (repo / "menu.cjs").write_text(
        'const fs = require("fs");\n'
        "const safely = (act) => { try { return act(); } catch (error) { return undefined; } };\n"
        f"module.exports = (element) => {{ {source} }};"
    )
    hides = f"require({json.dumps(str(begin))})(__filename);" if disguised else ""
    (repo / "Menu.test.cjs").write_text(
        f'{hides}\nconst element = {made};\nconst told = require("./menu.cjs")(element);\n{test}\n'
    )
    return repo


def said(begin: Path, source: str, test: str = "", *, page: str = PAGE, disguised: bool = True) -> str:
    """What a test prints about a source; without a test, what the source returns."""
    made = "document.createElement('button')" if page else "null"
    repo = put(begin, source, test or "console.log(String(told));", made=made, disguised=disguised)
    (repo / "start.cjs").write_text(f'{page}\nrequire("./Menu.test.cjs");')
    return run(repo, "start.cjs")


def run(repo: Path, *words: str, **variables: str) -> str:
    """What Node prints for these words."""
    env = {**os.environ, "NODE_NO_WARNINGS": "1", **variables}
    done = subprocess.run(["node", *words], cwd=repo, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
