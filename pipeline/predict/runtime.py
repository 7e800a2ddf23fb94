"""Writing the results of tasks, by the coordinator: answers as finished units, and the causes of missing ones."""

from __future__ import annotations

from pipeline.core.records import Instance
from pipeline.core.store import read_json, write_bytes, write_json
from pipeline.predict.request import AgentResult, Answer, Failure
from pipeline.predict.run import Run


def save(
    run: Run, instance: Instance, result: AgentResult, given_up: str = "", attempt: int = 1, *, believed: bool = True
) -> str:
    """Write an agent's result for an instance; return the line for the console. A task that was not begun keeps the
    files and the cause of an earlier failure."""
    unit = run.unit(instance, attempt)
    if result.failure and not result.begun and (unit.folder / "error.json").exists():
        return f"unanswered: {result.failure.cause}"
    run.clear(instance, attempt)
    for name, data in result.files.items():
        write_bytes(unit.folder / name, data)
    answer = result.answer(given_up, believed=believed)
    if isinstance(answer, Failure):
        write_json(unit.folder / "error.json", answer._asdict())
        return f"unanswered: {answer.cause}"
    finish(run, instance, answer, attempt)
    return answer.outcome


def finish(run: Run, instance: Instance, answer: Answer, attempt: int = 1) -> None:
    """Write an answer's manifest: the last write of its unit."""
    run.unit(instance, attempt).finish(answer._asdict(), **run.inputs(instance, attempt))


def why_unanswered(run: Run, instance: Instance, attempt: int = 1) -> str:
    """The stored cause for an instance without an answer; `not_asked` if there is none yet."""
    path = run.unit(instance, attempt).folder / "error.json"
    return read_json(path)["cause"] if path.exists() else "not_asked"
