"""Verdicts for others: on one patch, over HTTP, and by the script that runs in their containers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from lacking import lack
from tiny_library import IMPATIENT, LIMITS, Bench

from pipeline.core.errors import UserError
from pipeline.core.git import checkout, open_clone
from pipeline.dataset.foreign.folders import HERE
from pipeline.dataset.foreign.grader import Grader, described, server
from pipeline.evaluate.runs import How


@pytest.fixture(scope="module")
def bench(tiny: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return tiny.copy(tmp_path_factory.mktemp("grader"))


@pytest.fixture(scope="module")
def address(bench: Bench) -> Iterator[str]:
    grader = Grader(bench.store, How(bench.sandbox, LIMITS, IMPATIENT), trust_local=True)
    with server(grader, "127.0.0.1", 0, "secret") as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()


def post(address: str, name: str, patch: str, token: str = "secret") -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.post(f"{address}/grade/{name}", content=patch, headers=headers, timeout=120)


def test_gold_is_resolved_and_a_blank_patch_is_empty(bench: Bench, address: str) -> None:
    instance = bench.instance("menu")
    assert post(address, instance.instance_id, instance.fix_patch).json()["resolved"] is True
    found = post(address, instance.instance_id, "\n")
    assert (found.status_code, found.json()["outcome"], found.json()["resolved"]) == (200, "empty", False)


def test_an_instance_may_be_named_in_every_form(bench: Bench) -> None:
    grader = Grader(bench.store, How(bench.sandbox, LIMITS, IMPATIENT), trust_local=True)
    names = [form.format(bench.instance("menu").number) for form in ("acme/ui#{}", "acme/ui-#{}", "acme/ui:{}")]
    verdicts = [grader.grade(name, "") for name in names]
    assert {verdict.instance_id for verdict in verdicts} == {bench.instance("menu").instance_id}


def test_a_patch_is_run_once(bench: Bench, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict of stage 04 is used, and a new one is kept for stage 04."""
    instance = bench.instance("menu")
    post(address, instance.instance_id, instance.fix_patch)
    monkeypatch.setattr("pipeline.evaluate.request.RunPatch.perform", lambda *_: pytest.fail("it is run again"))
    assert post(address, instance.instance_id, instance.fix_patch).json()["resolved"] is True


@pytest.mark.parametrize(
    ("name", "patch", "token", "status"),
    [
        ("acme__ui-1", "", "other", 401),
        ("acme__ui-1", "", "secret2", 401),
        ("acme__ui-999", "x", "secret", 404),
        ("../acme__ui-1", "x", "secret", 404),
        ("acme__ui-1", b"\xff\xfe", "secret", 400),
    ],
)
def test_a_bad_request_gets_no_verdict(address: str, name: str, patch: str, token: str, status: int) -> None:
    assert post(address, name, patch, token).status_code == status


@pytest.mark.invariant(4)
def test_a_failed_evaluation_gives_no_verdict(bench: Bench, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("pipeline.evaluate.request.RunPatch.perform", breaks)
    instance = bench.instance("badge")
    assert post(address, instance.instance_id, instance.fix_patch).status_code == 503


@pytest.mark.rule("bad-input")
def test_code_that_is_not_trusted_is_refused_in_the_local_sandbox(bench: Bench) -> None:
    grader, instance = Grader(bench.store, How(bench.sandbox, LIMITS, IMPATIENT)), bench.instance("menu")
    with pytest.raises(UserError, match="trust"):
        grader.grade(instance.instance_id, instance.fix_patch)


@pytest.mark.parametrize(("way", "output"), [("swe-bench", "PASSED a11y-bench-verdict"), ("harbor", "1")])
def test_the_containers_script_sends_the_diff_of_the_checkout(
    bench: Bench, address: str, tmp_path: Path, way: str, output: str
) -> None:
    """Committed or not, and including new files; here, the checkout and the logs are folders of the test."""
    if not shutil.which("node"):
        lack("needs Node")
    instance, root, logs = bench.instance("menu"), tmp_path / "repo", tmp_path / "logs"
    checkout(open_clone(bench.library), instance.base.sha, root)
    (tmp_path / "gold.patch").write_text(instance.fix_patch)
    subprocess.run(["git", "apply", str(tmp_path / "gold.patch")], cwd=root, check=True)
    logs.mkdir()
    script = (HERE / "grade.sh").read_text().replace("/logs/verifier", str(logs))
    for place, value in {"WAY": way, "INSTANCE": instance.instance_id, "TOKEN": "secret", "ROOT": str(root)}.items():
        script = script.replace(f"@{place}@", value)
    given = {**os.environ, "A11Y_BENCH_GRADER": address}
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=given)
    assert done.returncode == 0, done.stderr
    if way == "harbor":
        assert (logs / "reward.txt").read_text().strip() == output
        assert json.loads((logs / "verdict.json").read_text())["outcome"] == "resolved"
    else:
        assert done.stdout.splitlines() == [">>>>> Start Test Output", output, ">>>>> End Test Output"]
    given["A11Y_BENCH_GRADER"] = "http://127.0.0.1:9"
    lost = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=given)
    assert lost.returncode == 1 and "PASSED" not in lost.stdout and "FAILED" not in lost.stdout


def test_a_verdict_is_described(bench: Bench) -> None:
    grader = Grader(bench.store, How(bench.sandbox, LIMITS, IMPATIENT), trust_local=True)
    instance = bench.instance("menu")
    found = described(grader.grade(instance.instance_id, "diff --git a/x b/x\n"))
    assert (found["outcome"], found["resolved"]) == ("not_applied", False)
