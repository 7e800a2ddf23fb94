"""Shared by the tests of the page track: a small case, pages for it, running one, and a run with observations."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from pipeline.core.store import Store, digest, write_bytes, write_records
from pipeline.pages.cases import Case, load_case, load_cases
from pipeline.pages.engine import Job, Limits, Looked, look
from pipeline.pages.evaluating import Evaluation
from pipeline.pages.records import Assertion, Element, Observed, PageAnswer, Usage, Violation
from pipeline.pages.running import code_of
from pipeline.pages.runs import Asked, Run, open_run

#: the prompt: a heading, and a button with a name
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
#: a page's time limit in tests of misbehaving pages, in seconds
SHORT = Limits(page=12, load=3, action=1, assertion=2, audit=6)


def page(script: str = "", body: str = "", head: str = "") -> str:
    """A passing page, with additions."""
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Harbour</title>{head}</head>
<body><main><h1>Harbour</h1><button type="button" class="ferry" aria-pressed="false">Ferry</button>{body}</main>
<script>document.querySelector(".ferry").onclick = ({{target}}) => target.setAttribute("aria-pressed", "true");</script>
<script>{script}</script></body></html>"""


def expecting(html: str, expected: dict[str, str]) -> str:
    script = f'<script id="a11y-assertions" type="application/json">{json.dumps({"assertions": expected})}</script>'
    return html.replace("</head>", f"{script}</head>")


def make_case(folder: Path, test: str = TEST, prompt: str = PROMPT, **examples: str) -> Case:
    """A case, by default with a good example."""
    (folder / "examples").mkdir(parents=True)
    (folder / "prompt.md").write_text(prompt)
    (folder / "test.js").write_text(test)
    for name, html in (examples or {"good": expecting(page(), EXPECTED)}).items():
        (folder / "examples" / f"{name}.html").write_text(html)
    return load_case(folder)


def running(word: str) -> list[str]:
    """The processes with this argument, without those that have ended and are not waited for."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        found += [path.parent.name] if word in words else []
    return found


def look_at(html: str, case: Case, limits: Limits = SHORT, screenshot: bool = False) -> Looked:
    return look(Job(html, code_of(case), screenshot, limits))


# -- a run without a browser: what the engine saw is put in its place --------------------------------------------------
HELD, BROKEN = Assertion(name="Has a heading", status="pass"), Assertion(name="Has a heading", status="fail")
ADVICE = Assertion(name="There is one", status="fail", type="BP")
IMAGE = Violation(
    id="image-alt",
    help="Images must have alternative text",
    tags=("wcag2a", "wcag111"),
    count=2,
    nodes=(Element(html="<img src='</script><script>alert(1)</script>'>", target=("img",)),),
)
REGION = Violation(id="region", help="All content", tags=("best-practice",), count=1)
PNG = bytes.fromhex("89504e470d0a1a0a") + b"picture"

#: the engine's observations, by sample
SEEN = [
    Observed(assertions=(HELD, ADVICE), audits=2),
    Observed(assertions=(HELD,), violations=(REGION,), audits=2),
    Observed(assertions=(BROKEN, ADVICE), violations=(IMAGE,), audits=2, incidents={"network": 3, "console": 2}),
    Observed(ended="time", detail="it never ends"),
    Observed(machine="browser: gone"),
]


def make_run(store: Store, folder: Path, models: tuple[str, ...] = ("one",), name: str = "run", cases: int = 1) -> Run:
    """A run with five answers of each model to each case."""
    for number in range(cases):
        make_case(folder / (f"harbour-{number}" if number else "harbour"))
    asked = Asked(models, len(SEEN), (1, 3), 42)
    run = open_run(store, "harbours", load_cases(folder), asked, {}, name)
    answers = []
    for key in run.keys:
        html = page(script=f"/* {key[1:]} <!-- </pre> */")
        write_bytes(run.folder / run.html(*key), html.encode())
        usage = Usage(tokens_in=10, tokens_out=100, cost_usd=Decimal("0.00000001")) if key[2] else Usage()
        about = {"case": key[0], "model": key[1], "sample": key[2], "html": str(run.html(*key))}
        answers.append(PageAnswer(**about, digest=digest(html), usage=usage))
    write_records(run.folder / "answers.jsonl", answers)
    return run


def make_alike(folder: Path) -> Run:
    """A run with similar names: case `a b` with model `c` and case `a` with model `b c`, case `a__b` with model `c` and
    case `a` with model `b__c`. Each page contains its own names."""
    names = [("a b", "c"), ("a", "b c"), ("a__b", "c"), ("a", "b__c")]
    for case in {case for case, _ in names}:
        make_case(folder / "cases" / case)
    asked = Asked(tuple(dict.fromkeys(model for _, model in names)))
    run = open_run(Store(folder / "data"), "alike", load_cases(folder / "cases"), asked, {}, "alike")
    answers = []
    for case, model in names:
        html, path = f"{case} by {model}", run.html(case, model, 0)
        write_bytes(run.folder / path, html.encode())
        answers.append(PageAnswer(case=case, model=model, sample=0, html=str(path), digest=digest(html)))
    write_records(run.folder / "answers.jsonl", answers)
    return run


def keep(evaluation: Evaluation, seen: list[Observed] = SEEN) -> Evaluation:
    """Store the engine's observation of each sample, except for those at which the machine failed."""
    for answer in evaluation.run.answers():
        if not seen[answer.sample].machine:
            evaluation._keep(answer, Looked(seen[answer.sample], PNG), "page")
    return evaluation
