"""A suite from its YAML file to its scores: real gateway, real browser, real checker, scripted model and judge."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import program
from pipeline.core import review_requests
from pipeline.core.store import Store, read_records
from pipeline.llm.ledger import Ledger
from pipeline.llm.models import DEMO, PROXY_URL
from pipeline.llm.scripted import Answer, ScriptedModel
from pipeline.pages.hybrid.records import Hybrid
from pipeline.pages.hybrid.score import hybrid_law

pytestmark = pytest.mark.engine("LLM gateway", "browser", "npm")

SUITE = """
tests:
  - {name: sum, prompt: "What is 15 * 23?", expected: "345"}
  - {name: a counter, prompt: A page with a button that counts}
  - {name: nothing, prompt: An empty page}
"""
COUNTER = """<!DOCTYPE html>
<html lang="en">
  <head><title>Counter</title></head>
  <body>
    <button type="button">0</button>
    <script>
      console.warn("slow");
      document.querySelector("button").onclick = (event) => { event.target.textContent = "1"; };
      missing();
    </script>
  </body>
</html>
"""
ANSWERS = [
    Answer(("You judge", "15 * 23"), '{"reasoning": "right", "score": 3, "confidence": "high"}'),
    Answer(("You judge", "An empty page"), '{"reasoning": "nothing there", "score": -1, "confidence": "high"}'),
    Answer(("You judge", "button that counts"), '{"reasoning": "it breaks", "score": 1, "confidence": "low"}'),
    Answer(("15 * 23",), "The answer is 345"),
    Answer(("button that counts",), f"```html\n{COUNTER}```"),
    Answer(("An empty page",), "<!DOCTYPE html><html><body></body></html>"),
]


def test_a_suite_is_answered_scored_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(SUITE, encoding="utf-8")
    data = tmp_path / "data"
    command = ["pages", "hybrid", "--models", str(DEMO), "--data", str(data), "--jobs", "1"]
    monkeypatch.delenv(PROXY_URL, raising=False)
    with ScriptedModel(list(ANSWERS)) as model:
        monkeypatch.setenv("A11Y_BENCH_SCRIPTED_URL", model.url)
        monkeypatch.setenv("A11Y_BENCH_SCRIPTED_KEY", "none")
        done = CliRunner().invoke(program, [*command, "--suite", str(suite), "--model", "scripted"])
        assert done.exit_code == 0, done.output
        asked = len(model.requests)
        again = CliRunner().invoke(program, [*command, "--suite", str(suite), "--model", "scripted"])
        assert again.exit_code == 0, again.output
        assert len(model.requests) == asked == 6
    (path,) = data.glob("04_evaluation/pages/*/hybrid.jsonl")
    scored = {hybrid.name: hybrid for hybrid in read_records(path, Hybrid)}
    summed, counter, nothing = scored["sum"], scored["a counter"], scored["nothing"]
    assert (summed.expected.score, summed.quality.score, summed.functional.score) == (51, 90, 100)
    assert (summed.law, summed.judge) == (hybrid_law(), "scripted")
    assert counter.functional.detail["page_errors"] == 1
    assert counter.functional.detail["console_warnings"] == 1
    assert counter.expected.score is None
    assert (counter.html.score, counter.quality.score) == (100, 50)
    assert counter.weights == {"html": 18.75, "functional": 50.0, "quality": 31.25}
    assert nothing.functional.score == 0
    assert nothing.quality.score is None
    assert not nothing.passed
    store = Store(data)
    assert {request.id for request in review_requests.queue(store)} == {"a counter scripted s0", "nothing scripted s0"}
    assert {row.track for row in Ledger(store.ledger).rows()} == {"pages"}
