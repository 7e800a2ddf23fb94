"""A library with one component for each runner, whose only pull request is qualified in a container engine, and patches
to it.

The component returns a button; gold makes it a switch. `evaluated` gives every patch its verdict in one call: each is a
prediction for a copy of the instance, so all share one image. Needs the npm registry.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from histories import Content, History

from pipeline.build.qualify import Settings
from pipeline.build.stage import build
from pipeline.collect.stage import collect
from pipeline.core.cache import cache_root
from pipeline.core.names import Repo
from pipeline.core.records import Instance, Prediction, Verdict
from pipeline.core.store import Store, write_records
from pipeline.evaluate.stage import Subject, evaluate
from pipeline.sandbox.base import Limits
from pipeline.sandbox.docker.sandbox import DockerSandbox

SOURCE, TEST = "src/lamp.js", "test/lamp.test.js"
PLACE = Path(__file__).parent / "evaluate" / "tampering" / "lamp.toml"
CASES: dict[str, Any] = tomllib.loads(PLACE.read_text(encoding="utf-8"))
#: the library's tests end soon or never
LIMITS = Limits(seconds=180, processes=300, output=2_000_000)

COMPONENT = """\
{head}

function lamp(label, options) {{
  const {{ on = false }} = options || {{}};
  const button = document.createElement("button");
  button.textContent = label;
  button.className = on ? "lamp lit" : "lamp";
  {body}
  return button;
}}
{code}
{tail}
"""
#: helpers for attacks: to give an element gold's attributes, to change what the component returns, to read gold's tests
PRELUDE = """
const dress = (button, on) => {
  button.setAttribute("role", "switch");
  button.setAttribute("aria-checked", String(on));
  button.setAttribute("aria-describedby", "hall-help");
};
const wrap = (change) => {
  const plain = lamp;
  lamp = (label, options) => {
    const button = plain(label, options);
    return change(button, Boolean(options && options.on)) || button;
  };
};
const gold = () => fs.readFileSync(process.cwd() + "/test/lamp.test.js", "utf8");
const isControl = (title) => /^[0-9a-f]{16}$/.test(title);
"""
GOLD = CASES["gold"]["body"]


class Dialect(NamedTuple):
    """How the library is written for a runner."""

    packages: dict[str, str]
    head: str
    tail: str
    imports: str
    equals: str
    counts: str
    files: dict[str, Content]
    manifest: dict[str, Any] = {}
    kept: str = ""


_COMMON_JS = ('const fs = require("fs");', "module.exports = { lamp };")
_DOM = """\
const { JSDOM } = require("jsdom");
const { window } = new JSDOM("<body></body>");
for (const name of ["document", "Element", "Node", "Document", "HTMLElement"]) globalThis[name] = window[name];
"""
DIALECTS = {
    "jest": Dialect(
        {"jest": "^29.7.0", "jest-environment-jsdom": "^29.7.0", "lodash": "^4.17.21"},
        *_COMMON_JS,
        'const { lamp } = require("../src/lamp");',
        "toBe",
        "toHaveLength",
        {},
        {"jest": {"testEnvironment": "jsdom"}},
        "// Jest Snapshot v1, https://goo.gl/fbAQLP\n\nexports[`lamp is kept 1`] = `\n[\n  {role},\n  {on},\n]\n`;\n",
    ),
    "vitest": Dialect(
        {"vitest": "^2.1.9", "jsdom": "^25.0.1", "lodash": "^4.17.21"},
        'import fs from "node:fs";',
        "export { lamp };",
        'import { describe, expect, it } from "vitest";\nimport { lamp } from "../src/lamp";',
        "toBe",
        "toHaveLength",
        {"vitest.config.mjs": 'export default { test: { environment: "jsdom" } };\n'},
        {"type": "module"},
        "// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\n"
        "exports[`lamp > is kept 1`] = `\n[\n  {role},\n  {on},\n]\n`;\n",
    ),
    "mocha": Dialect(
        {"mocha": "^10.8.2", "chai": "^4.5.0", "jsdom": "^25.0.1", "lodash": "^4.17.21"},
        *_COMMON_JS,
        'const { expect } = require("chai");\nconst { lamp } = require("../src/lamp");',
        "to.equal",
        "to.have.length",
        {".mocharc.json": '{ "require": ["./test/dom.js"], "spec": ["test/*.test.js"] }\n', "test/dom.js": _DOM},
    ),
}


class LampBench(NamedTuple):
    """A data directory with the one instance, the sources for making patches, and the sandbox for tests."""

    store: Store
    sandbox: DockerSandbox
    instance: Instance
    base: History
    runner: str

    @property
    def repo(self) -> Repo:
        return self.instance.repository


def make(folder: Path, runner: str, further: Mapping[str, Content] | None = None) -> LampBench:
    """Collect and build it; gold's test patch also has `further` files."""
    dialect, repo = DIALECTS[runner], Repo("acme", f"lamp-{runner}")
    base, store, sandbox = History(folder / "lamp"), Store(folder / "data"), DockerSandbox(cache_root())
    manifest = {"name": "lamp", "version": "1.0.0", "private": True, "scripts": {"test": runner}}
    manifest |= {"devDependencies": dialect.packages} | dialect.manifest
    files = {"package.json": json.dumps(manifest, indent=2) + "\n", ".gitignore": "node_modules\n", **dialect.files}
    base.commit("A lamp", files | {SOURCE: component(runner)} | _tests(dialect, gold=False))
    before = base.git("rev-parse", "HEAD")
    gold = {SOURCE: component(runner, GOLD)} | _tests(dialect, gold=True) | dict(further or {})
    base.commit("Give the lamp an aria role (#1)", gold)
    collect(store, repo, base.folder)
    (outcome,) = build(store, repo, Settings(sandbox, repeats=1, limits=LIMITS), numbers=[1])
    assert isinstance(outcome, Instance), outcome
    base.git("checkout", "-q", "-b", "patches", before)
    return LampBench(store, sandbox, outcome, base, runner)


def component(runner: str, body: str = "", code: str = "") -> str:
    """The component, with statements in it and code after it."""
    dialect = DIALECTS[runner]
    return COMPONENT.format(head=dialect.head, body=body, code=code and PRELUDE + code, tail=dialect.tail)


def cases(kind: str, runner: str) -> dict[str, dict[str, Any]]:
    """The attacks, or the honest patches, for a runner, by name."""
    return {case["name"]: case for case in CASES[kind] if runner in case.get("runners", DIALECTS)}


def patch_of(bench: LampBench, case: Mapping[str, Any]) -> str:
    """The patch of a case to the base."""
    if "patch" in case:
        return case["patch"].lstrip()
    files: dict[str, Content] = dict(case.get("files", {}))
    if "code" in case or "body" in case:
        files[SOURCE] = component(bench.runner, case.get("body", ""), case.get("code", ""))
    for path, target in case.get("links", {}).items():
        (bench.base.folder / path).symlink_to(target)
    bench.base.commit(case["name"], files)
    whole = bench.base.folder.with_name("patch")
    bench.base.git("diff", "--binary", f"--output={whole}", "HEAD~", "HEAD")
    bench.base.git("reset", "-q", "--hard", "HEAD~")
    return whole.read_text(encoding="utf-8")


def evaluated(bench: LampBench, patches: Mapping[str, str]) -> dict[str, Verdict]:
    """The verdicts on patches, by name."""
    numbers = {name: number for number, name in enumerate(patches, 1)}
    ids = {name: bench.repo.instance_id(number) for name, number in numbers.items()}
    copies = [bench.instance.model_copy(update={"number": n, "instance_id": ids[name]}) for name, n in numbers.items()]
    write_records(bench.store.dataset(bench.repo), copies)
    path = bench.store.predictions(bench.repo, "tampering", "attacks") / "20240506T070809Z" / "predictions.jsonl"
    given = {"model_name_or_path": "attacks"}
    write_records(path, [Prediction(instance_id=ids[name], model_patch=patches[name], **given) for name in patches])
    verdicts = evaluate(bench.store, Subject(bench.repo, "tampering", "attacks"), bench.sandbox, limits=LIMITS, jobs=2)
    by_id = {verdict.instance_id: verdict for verdict in verdicts}
    return {name: by_id[ids[name]] for name in patches}


def _tests(dialect: Dialect, *, gold: bool) -> dict[str, Content]:
    """The test and the stored snapshot; gold changes values in them, and adds some."""
    words = {"equals": dialect.equals, "counts": dialect.counts, "null": "null"}
    lines = CASES["gold"]["tests"] if gold else CASES["gold"]["tests_before"]
    kept = [CASES["gold"]["kept"]] if dialect.kept else []
    body = "\n".join(f"  {line}" for line in [*lines, *kept])
    for name, word in words.items():
        body = body.replace(f"${name}", word)
    values = {"role": '"switch"', "on": '"true"'} if gold else {"role": "null", "on": "null"}
    snapshot = dialect.kept
    for name, value in values.items():
        snapshot = snapshot.replace(f"{{{name}}}", value)
    text = f'{dialect.imports}\n\ndescribe("lamp", () => {{\n{body}\n}});\n'
    return {TEST: text} | ({"test/__snapshots__/lamp.test.js.snap": snapshot} if snapshot else {})
