"""What tests of the track of pages share: a small case, pages for it, and running one."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.pages.cases import Case, load_case
from pipeline.pages.engine import Job, Limits, Looked, look
from pipeline.pages.running import code_of

#: what a page is asked for here: a heading, and a button that is named
PROMPT = "Make a page about a harbour, with a heading and a button that has the class `ferry`."
TEST = """
module.exports.run = async ({ page, assert }) => {
  await assert("Has a heading", async () => (await page.getByRole("heading").count()) > 0);
  await assert("The button says so", async () => {
    const pressed = page.locator(".ferry");
    await pressed.click();
    return { pass: (await pressed.getAttribute("aria-pressed")) === "true", message: "it is not pressed" };
  });
  await assert("There is one heading", async () => (await page.getByRole("heading").count()) === 1, { type: "BP" });
};
"""
EXPECTED = {"Has a heading": "pass", "The button says so": "pass", "There is one heading": "pass"}
#: seconds that a page gets in tests of what misbehaves
SHORT = Limits(page=12, load=3, action=1, assertion=2, audit=6)


def page(script: str = "", body: str = "", head: str = "") -> str:
    """A page that passes, with more in it."""
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Harbour</title>{head}</head>
<body><main><h1>Harbour</h1><button type="button" class="ferry" aria-pressed="false">Ferry</button>{body}</main>
<script>document.querySelector(".ferry").onclick = ({{target}}) => target.setAttribute("aria-pressed", "true");</script>
<script>{script}</script></body></html>"""


def expecting(html: str, expected: dict[str, str]) -> str:
    script = f'<script id="a11y-assertions" type="application/json">{json.dumps({"assertions": expected})}</script>'
    return html.replace("</head>", f"{script}</head>")


def make_case(folder: Path, test: str = TEST, prompt: str = PROMPT, **examples: str) -> Case:
    """A case with a good example, unless told otherwise."""
    (folder / "examples").mkdir(parents=True)
    (folder / "prompt.md").write_text(prompt)
    (folder / "test.js").write_text(test)
    for name, html in (examples or {"good": expecting(page(), EXPECTED)}).items():
        (folder / "examples" / f"{name}.html").write_text(html)
    return load_case(folder)


def look_at(html: str, case: Case, limits: Limits = SHORT, screenshot: bool = False) -> Looked:
    return look(Job(html, code_of(case), screenshot, limits))
