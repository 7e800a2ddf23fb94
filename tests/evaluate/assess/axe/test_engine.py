"""The demo's pull request with a missing label, assessed in a container: base, gold, and a patch that cheats."""

from __future__ import annotations

import demo_bench
import factories
import pytest
from demo_bench import REPO, Bench
from tiny_library import IMPATIENT

from pipeline.core.assessment import Assessment
from pipeline.core.records import Prediction
from pipeline.core.store import write_records
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.assess.axe.audit import audit
from pipeline.evaluate.assess.axe.documents import Rendered
from pipeline.evaluate.assess.stage import Extras, assess
from pipeline.evaluate.runs import How
from pipeline.evaluate.stage import evaluate
from pipeline.sandbox.base import DEFAULT

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]
FILE = "src/components/Avatar/Avatar.tsx"
#: the first line of the patch
FIRST = 'import { cx } from "../../utils/cx";'
#: tries to write audits and documents of its own in every possible place while the tests run
CHEAT = """
const fs = require("fs");
const folder = /--require (.*)\\/documents.cjs/.exec(fs.readFileSync("/proc/self/environ", "utf8"))?.[1];
const made = { file: "a.test.tsx", names: ["made up"], html: "<button></button>" };
for (const place of folder ? [folder, `${folder}/../axe`] : []) {
  fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(`${place}/captured.jsonl`, `${JSON.stringify(made)}\\n`);
  for (const name of ["axe.js", "page.js", "audit.cjs", "result.json"]) fs.writeFileSync(`${place}/${name}`, "[]");
}
"""


@pytest.fixture(scope="module")
def avatar(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return demo_bench.make(tmp_path_factory.mktemp("avatar"), 12)


def assessed(bench: Bench, agent: str, patch: str) -> Assessment:
    """The assessment of a patch, after its verdict."""
    given = {"agent": agent, "model_name_or_path": agent, "model_patch": patch}
    prediction: Prediction = factories.make_prediction(bench.instance.number, REPO, **given)
    write_records(bench.store.predictions(REPO, agent, agent) / prediction.run / "predictions.jsonl", [prediction])
    subject = Subject(REPO, agent, agent)
    evaluate(bench.store, subject, bench.sandbox, patience=IMPATIENT)
    (one,) = assess(bench.store, subject, How(bench.sandbox, DEFAULT, IMPATIENT), extras=Extras(axe=True))
    return one


def test_the_missing_label_is_found_in_the_base_and_not_in_gold(avatar):
    """The base has one violation and gold none; a patch that fixes nothing keeps it."""
    oracle, nop = (assessed(avatar, *who) for who in (("oracle", avatar.instance.fix_patch), ("nop", "")))
    assert [(violation.axe.base, violation.axe.gold, violation.axe.candidate) for violation in (oracle, nop)] == [
        (1, 0, 0),
        (1, 0, 1),
    ]
    assert oracle.axe.tests == nop.axe.tests == 6
    assert (oracle.axe.remaining, nop.axe.fixed, nop.axe.introduced) == ((), (), ())
    assert oracle.axe.fixed == nop.axe.remaining
    (fixed,) = oracle.axe.fixed
    assert (fixed.rule, fixed.criteria, fixed.element) == ("image-alt", ("1.1.1",), "img")
    assert all(name.startswith("src/components/Avatar/__tests__/Avatar.test.tsx > Avatar > ") for name in fixed.tests)


#: a button without a name in two documents: the last rule hides it in one and shows it in the other
HIDDEN, SHOWN = ".a { display: none }", ".a { display: block }"
STYLED = {"hidden": [HIDDEN, ".b { color: red }", SHOWN, HIDDEN], "shown": [SHOWN, HIDDEN, ":nonsense() {}", SHOWN]}


def test_only_irrelevant_styles_are_left_out(avatar):
    """A test's document may hold the styles of all earlier tests, and jsdom evaluates all of them for each query."""
    styles = {test: "".join(f"<style>{rule}</style>" for rule in rules) for test, rules in STYLED.items()}
    documents = tuple((test, f'{text}<button class="a"></button>') for test, text in styles.items())
    with avatar.sandbox.open(avatar.instance.image) as workspace:
        (found,) = audit(workspace, Rendered(documents, (), f"{workspace.root}/node_modules/jsdom"))
    assert (found.rule, found.tests) == ("button-name", ("shown",))


def test_a_select_without_options_does_not_end_the_audit(avatar):
    """axe-core 4.14 throws when it reads the value of an empty `select`."""
    html = '<div role="group"><select title="Size"></select><button></button></div>'
    with avatar.sandbox.open(avatar.instance.image) as workspace:
        (found,) = audit(workspace, Rendered((("one", html),), (), f"{workspace.root}/node_modules/jsdom"))
    assert (found.rule, found.element) == ("button-name", "group > button")


@pytest.mark.rule("assessment-beside-the-verdict")
def test_documents_added_by_a_patch_hide_no_violation(avatar):
    """A patch can add documents, just as it can add tests. The documents of the tests are out of its reach until their
    file ends."""
    lines = CHEAT.strip().splitlines()
    head = f"diff --git a/{FILE} b/{FILE}\n--- a/{FILE}\n+++ b/{FILE}\n@@ -1 +1,{len(lines) + 1} @@\n"
    cheat = assessed(avatar, "cheat", "\n".join([head + "+" + "\n+".join(lines), f" {FIRST}\n"]))
    assert [violation.rule for violation in cheat.axe.remaining] == ["image-alt"]
    assert [(violation.rule, *violation.tests) for violation in cheat.axe.introduced] == [
        ("button-name", "a.test.tsx > made up")
    ]
    assert not cheat.resolved
