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
from pipeline.dataset.foreign.folders import _script
from pipeline.dataset.foreign.grader import Grader, described, server
from pipeline.evaluate.runs import How
from pipeline.sandbox.docker.names import REPO


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


@pytest.mark.trap("bought-fault")
def test_a_patch_that_is_too_large_is_no_prediction(
    bench: Bench, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its agent got no verdict, as if the machine had failed."""
    monkeypatch.setattr("pipeline.dataset.foreign.grader.LARGEST", 10)
    found = post(address, bench.instance("menu").instance_id, "x" * 3_000_000)
    assert (found.status_code, found.json()["outcome"], found.json()["resolved"]) == (200, "no_prediction", False)
    assert post(address, "acme__ui-999", "x" * 11).status_code == 404


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


@pytest.fixture
def solved(bench: Bench, tmp_path: Path) -> Path:
    """A checkout with the gold patch of the menu, as an agent leaves it."""
    if not shutil.which("node"):
        lack("needs Node")
    instance, root = bench.instance("menu"), tmp_path / "repo"
    checkout(open_clone(bench.library), instance.base.sha, root)
    (tmp_path / "gold.patch").write_text(instance.fix_patch)
    subprocess.run(["git", "apply", str(tmp_path / "gold.patch")], cwd=root, check=True)
    return root


def script_of(bench: Bench, way: str, root: Path, logs: Path) -> str:
    """The script that runs in a container; here, the checkout and the logs are folders of the test."""
    logs.mkdir()
    made = _script(bench.instance("menu"), way, "secret").decode()
    return made.replace("/logs/verifier", str(logs)).replace(f'cd "{REPO}"', f'cd "{root}"')


@pytest.mark.trap("bought-fault")
def test_nothing_that_an_agent_leaves_prevents_a_verdict(
    bench: Bench, address: str, solved: Path, tmp_path: Path
) -> None:
    """A file that is not UTF-8, or a repository without a commit, left a task without a reward."""
    (solved / "notes.txt").write_bytes(b"caf\xe9\n")
    (solved / ".gitattributes").write_text("* diff\n")
    subprocess.run(["git", "init", "--quiet", str(solved / "begun")], check=True)
    subprocess.run(["git", "config", "diff.noprefix", "true"], cwd=solved, check=True)
    script, logs = script_of(bench, "harbor", solved, tmp_path / "logs"), tmp_path / "logs"
    given = {**os.environ, "A11Y_BENCH_GRADER": address}
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=given)
    assert (done.returncode, (logs / "reward.txt").read_text().strip()) == (0, "1"), done.stderr


@pytest.mark.parametrize(("way", "output"), [("swe-bench", "PASSED a11y-bench-verdict"), ("harbor", "1")])
def test_the_containers_script_sends_the_diff_of_the_checkout(
    bench: Bench, address: str, solved: Path, tmp_path: Path, way: str, output: str
) -> None:
    """Committed or not, and including new files."""
    script, logs = script_of(bench, way, solved, tmp_path / "logs"), tmp_path / "logs"
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
