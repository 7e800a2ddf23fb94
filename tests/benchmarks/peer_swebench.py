"""What `just bench peers` runs in the environment of `vendors/swebench`: its readers and reports on our logs.

`python peer_swebench.py ACTION FOLDER`: `read` and `report` print seconds of the processor as JSON, `evaluate` is
measured from outside. Reads and writes FOLDER, which `peers` has filled.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from peer import main
from swebench.harness.constants import END_TEST_OUTPUT, RUN_EVALUATION_LOG_DIR, START_TEST_OUTPUT
from swebench.harness.grading import get_eval_report, get_eval_tests_report, get_resolution_status
from swebench.harness.log_parsers import PARSER_REGISTRY
from swebench.harness.reporting import make_run_report
from swebench.types import TestSpec

READER, RUN, MODEL = "parse_log_jest", "peers", "model-a"


def _spec(instance: dict) -> TestSpec:
    lists = {key: instance[key] for key in ("FAIL_TO_PASS", "PASS_TO_PASS")}
    about = {"image": "", "eval_script_list": [], "repo": "acme/ui", "version": "1", "log_parser": READER}
    return TestSpec(instance["instance_id"], **about, eval_type="pass_and_fail", **lists)


def _instances(folder: Path) -> list[dict]:
    """Every test of the fixed log is expected, the ones that failed before as fixed."""
    after, before = (PARSER_REGISTRY[READER]((folder / name).read_text(), None) for name in ("fix.log", "test.log"))
    fixed = [name for name, status in after.items() if before.get(name) != status]
    kept = [name for name in after if name not in fixed]
    names = json.loads((folder / "instances.json").read_text())
    return [{"instance_id": name, "FAIL_TO_PASS": fixed, "PASS_TO_PASS": kept} for name in names]


def _predictions(folder: Path) -> dict[str, dict]:
    names = json.loads((folder / "instances.json").read_text())
    return {name: {"instance_id": name, "model_name_or_path": MODEL, "model_patch": "diff"} for name in names}


def read(folder: Path) -> int:
    """The tests that it finds in a large log."""
    return len(PARSER_REGISTRY[READER]((folder / "large.log").read_text(), None))


def report(folder: Path) -> int:
    """The instances that it finds resolved, from results that are read already."""
    instances = _instances(folder)
    status = PARSER_REGISTRY[READER]((folder / "fix.log").read_text(), None)
    started = time.process_time()
    for instance in instances:
        resolved = get_resolution_status(get_eval_tests_report(status, instance)) == "RESOLVED_FULL"
        _write(instance["instance_id"], {instance["instance_id"]: {"resolved": resolved}})
    return _reported(folder, instances, started)


def evaluate(folder: Path) -> int:
    """The same from the logs on disk."""
    instances, log = _instances(folder), folder / "log.txt"
    log.write_text(f"{START_TEST_OUTPUT}\n{(folder / 'fix.log').read_text()}\n{END_TEST_OUTPUT}\n")
    predictions, started = _predictions(folder), time.process_time()
    for instance in instances:
        spec, place = _spec(instance), _place(instance["instance_id"])
        own = place / "test_output.txt"
        own.symlink_to(log)
        _write(instance["instance_id"], get_eval_report(spec, predictions[instance["instance_id"]], str(own), True))
    return _reported(folder, instances, started)


def _reported(folder: Path, instances: list[dict], started: float) -> int:
    path = make_run_report(_predictions(folder), instances, RUN, report_dir=str(folder))
    print(json.dumps({"seconds": time.process_time() - started}))
    return json.loads(path.read_text())["resolved_instances"]


def _place(name: str) -> Path:
    place = RUN_EVALUATION_LOG_DIR / RUN / MODEL / name
    place.mkdir(parents=True, exist_ok=True)
    return place


def _write(name: str, told: dict) -> None:
    (_place(name) / "report.json").write_text(json.dumps(told, indent=4))


ACTIONS: dict[str, Callable[[Path], int]] = {"read": read, "report": report, "evaluate": evaluate}

if __name__ == "__main__":
    main(ACTIONS)
