"""What `just bench peers` runs in the environment of `vendors/multi-swe-bench`: its readers and reports on our logs.

`python peer_multi_swe_bench.py ACTION FOLDER`: `read` and `report` print seconds of the processor as JSON, `evaluate`
is measured from outside. Reads and writes FOLDER, which `peers` has filled. Its readers belong to repositories: that of
grommet/grommet, which reads what Jest prints, is asked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from multi_swe_bench.harness.dataset import Dataset
from multi_swe_bench.harness.gen_report import CliArgs
from multi_swe_bench.harness.image import Config
from multi_swe_bench.harness.instance import Instance
from multi_swe_bench.harness.pull_request import Base, PullRequest
from multi_swe_bench.harness.report import FinalReport, Report
from multi_swe_bench.harness.test_result import TestResult
from peer import main

ORG = REPO = "grommet"
LOGS = {"run": "run.log", "test": "test.log", "fix": "fix.log"}


def _pull(number: int) -> dict:
    texts = {"state": "", "title": "", "body": "", "fix_patch": "", "test_patch": ""}
    return {"org": ORG, "repo": REPO, "number": number, "base": Base("", "", ""), "resolved_issues": [], **texts}


def _results(folder: Path) -> dict[str, TestResult]:
    instance = Instance.create(PullRequest(**_pull(1)), Config(need_clone=False, global_env=None, clear_env=False))
    return {name: instance.parse_log((folder / log).read_text()) for name, log in LOGS.items()}


def _report(number: int, results: dict[str, TestResult]) -> Report:
    keys = {"run": "run_result", "test": "test_patch_result", "fix": "fix_patch_result"}
    return Report(org=ORG, repo=REPO, number=number, **{keys[name]: one for name, one in results.items()})


def read(folder: Path) -> int:
    """The tests that it finds in a large log."""
    instance = Instance.create(PullRequest(**_pull(1)), Config(need_clone=False, global_env=None, clear_env=False))
    return instance.parse_log((folder / "large.log").read_text()).all_count


def report(folder: Path) -> int:
    """The instances that it finds valid, from results that are read already."""
    results, numbers = _results(folder), range(1, len(_names(folder)) + 1)
    started = time.process_time()
    reports = [_report(number, results) for number in numbers]
    for number, one in zip(numbers, reports, strict=True):
        (folder / f"report-{number}.json").write_text(one.json())
    final = FinalReport.from_reports([one for one in reports if one.valid], [one for one in reports if not one.valid])
    (folder / "final.json").write_text(final.json())
    print(json.dumps({"seconds": time.process_time() - started}))
    return final.resolved_instances


def prepare(folder: Path) -> int:
    """The dataset and the logs, where its evaluation looks for them."""
    results = _results(folder)
    judged = _report(1, results)
    classes = {name: getattr(judged, f"{name}_tests") for name in ("fixed", "p2p", "f2p", "s2p", "n2p")}
    lines = []
    for number in range(1, len(_names(folder)) + 1):
        record = Dataset(**_pull(number), **{f"{name}_tests": tests for name, tests in classes.items()},
                         run_result=results["run"], test_patch_result=results["test"],
                         fix_patch_result=results["fix"])  # fmt: skip
        lines.append(record.to_json(ensure_ascii=False))
        place = folder / "work" / ORG / REPO / "evals" / f"pr-{number}"
        place.mkdir(parents=True)
        (place / "fix-patch-run.log").symlink_to(folder / "fix.log")
    (folder / "dataset.jsonl").write_text("\n".join(lines))
    return len(lines)


def evaluate(folder: Path) -> int:
    """Its own evaluation of stored runs."""
    places = {"workdir": folder / "work", "output_dir": folder / "out", "log_dir": folder / "logs"}
    none = {"specifics": None, "skips": None, "raw_dataset_files": None}
    how = {"max_workers": 2, "log_level": "ERROR", "log_to_console": False}
    CliArgs(mode="evaluation", dataset_files=[str(folder / "dataset.jsonl")], **places, **none, **how).run()
    return json.loads((folder / "out" / "final_report.json").read_text())["resolved_instances"]


def _names(folder: Path) -> list[str]:
    return json.loads((folder / "instances.json").read_text())


ACTIONS: dict[str, Callable[[Path], int]] = {
    "read": read,
    "report": report,
    "prepare": prepare,
    "evaluate": evaluate,
}

if __name__ == "__main__":
    main(ACTIONS)
