"""Tests in TypeScript that a repository compiles before it runs them, in the engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from runner_matrix import ran
from trees import of

from pipeline.build.infer import infer
from pipeline.core.cache import cache_root
from pipeline.core.records import Status
from pipeline.core.store import now
from pipeline.sandbox.docker.sandbox import DockerSandbox

TEST = """
import { expect } from "@esm-bundle/chai";
import type { Item } from "./menu.js";
import { Menu } from "./menu.js";
import { title } from "./title";

describe("Menu", () => {
  it("has items", () => {
    const item: Item = { label: title };
    expect(new Menu().add(item)).to.equal(1);
  });
  it("has a tag", () => {
    expect(Menu.tag).to.equal("x-menu");
  });
  it("opens", () => {
    expect(title).to.equal("open");
  });
});
"""
MENU = """
export interface Item { label: string }
const named = (name: string) => (type: any) => { type.tag = name; };
@named("x-menu")
export class Menu {
  static tag?: string;
  private items: Item[] = [];
  add(item: Item): number { return this.items.push(item); }
}
"""
PACKAGES = {"@web/test-runner": "0.20.2", "@esm-bundle/chai": "4.3.4-fix.0", "typescript": "5.4.5"}
FILES = {
    "package.json": json.dumps({"name": "menu", "type": "module", "devDependencies": PACKAGES}),
    "web-test-runner.config.mjs": 'export default { files: ["src/*.test.js"], nodeResolve: true };\n',
    "tsconfig.json": json.dumps({"compilerOptions": {"target": "ES2021", "experimentalDecorators": True}}),
    "src/menu.ts": MENU,
    "src/menu.test.ts": TEST,
    "src/title.ts": 'export const title = "closed";\n',
    # what an earlier build left: the source's file counts, the test's does not
    "src/title.js": 'export const title = "open";\n',
    "src/menu.test.js": 'throw new Error("stale");\n',
}


@pytest.mark.engine
def test_tests_in_typescript_are_compiled(tmp_path: Path) -> None:
    """Such a test has no JavaScript of its own, or one that lacks the negative control: no test ran."""
    tests = ["src/menu.test.ts"]
    environment = infer(of(FILES), now(), tests, {"node": ("20", "given")})
    run = ran(DockerSandbox(cache_root()), tmp_path / "menu", FILES, environment, tests)
    titles = ("has items", "has a tag", "opens")
    assert {f"src/menu.test.ts > Menu > {title}": Status.PASSED for title in titles}.items() <= run.results.items(), (
        run.log.decode(errors="replace")[-3000:]
    )
