"""The instances of this folder as a task of Inspect's (inspect_ai), scored by the verdict of A11y-Bench.

    inspect eval a11y_bench.py --model openai/gpt-5

Needs only inspect_ai, and the grader `a11y-bench dataset grade --serve` at A11Y_BENCH_GRADER (default:
http://127.0.0.1:8765). Without a verdict, a sample ends in an error and is not counted as wrong.
"""

import asyncio
import json
import os
import urllib.request
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr
from inspect_ai.tool import bash
from inspect_ai.util import sandbox

HERE = Path(__file__).parent
ROOT = "@ROOT@"


def samples() -> list[Sample]:
    """A sample per line of instances.jsonl, each in its own image."""
    rows = [json.loads(line) for line in (HERE / "instances.jsonl").read_text(encoding="utf-8").splitlines()]
    return [
        Sample(
            id=row["instance_id"],
            input=f"The repository is in {ROOT}. Resolve this report by changing its sources:\n\n{row['statement']}",
            target="resolved",
            metadata={"repo": row["repo"], "base_commit": row["base_commit"]},
            sandbox=("docker", str(HERE / "compose" / f"{row['instance_id']}.yaml")),
        )
        for row in rows
    ]


async def difference() -> str:
    """The diff of the checkout against its first commit."""
    script = (HERE / "difference.sh").read_text(encoding="utf-8")
    result = await sandbox().exec(["sh", "-s"], input=script, cwd=ROOT)
    if not result.success:
        raise RuntimeError(f"no diff: {result.stderr}")
    return result.stdout


def verdict(instance: str, patch: str) -> dict:
    """The grader's verdict on a patch."""
    base = os.environ.get("A11Y_BENCH_GRADER", "http://127.0.0.1:8765").rstrip("/")
    token = (HERE / "grader.token").read_text(encoding="utf-8").strip()
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{base}/grade/{instance}", patch.encode(), headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


@scorer(metrics=[accuracy(), stderr()])
def graded():
    """The verdict on the agent's diff."""

    async def score(state, target):
        patch = await difference()
        grade = await asyncio.to_thread(verdict, str(state.sample_id), patch)
        value = CORRECT if grade["resolved"] else INCORRECT
        return Score(value=value, answer=patch, explanation=f"{grade['outcome']} {grade['cause']}".strip())

    return score


@task
def a11y_bench() -> Task:
    """All instances, for any model; `--solver` chooses another agent."""
    return Task(dataset=samples(), solver=react(tools=[bash(timeout=180)]), scorer=graded())
