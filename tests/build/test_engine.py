"""One pull request of the demo in a real container engine: it is qualified and resolved, and its image contains nothing
of the solution."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import git
import pytest
from demo_bench import REPO, Bench
from leaks import gold_lines, later_lines

from pipeline.core.records import Prediction, Verdict
from pipeline.core.store import read_json, write_records
from pipeline.core.trust import DEMO
from pipeline.evaluate.stage import Subject, evaluate
from pipeline.llm.models import SHIPPED
from pipeline.predict.stage import Predictor
from pipeline.sandbox.docker.names import REPO as FOLDER
from pipeline.sandbox.docker.names import instance_image

pytestmark = pytest.mark.engine
#: a known WCAG failure remains: only the class name conveys the state
WRONG = """\
diff --git a/src/components/Toggle/Toggle.tsx b/src/components/Toggle/Toggle.tsx
--- a/src/components/Toggle/Toggle.tsx
+++ b/src/components/Toggle/Toggle.tsx
@@ -14,3 +14,3 @@
       type="button"
-      className={cx("hb-toggle", on && "hb-toggle--on")}
+      className={cx("hb-toggle", on && "hb-toggle--pressed")}
       disabled={disabled}
"""


@pytest.fixture(scope="module")
def bench(harbor: Bench) -> Bench:
    return harbor


def test_candidates_qualify_as_in_the_local_sandbox(bench: Bench) -> None:
    expected = read_json(DEMO / "expected.json")["pulls"]["19"]["fixes"]
    assert sorted(bench.instance.f2p_tests) == expected
    assert (bench.instance.sandbox, bench.instance.snapshot_only) == ("docker", tuple(expected))


def verdict(bench: Bench, name: str) -> Verdict:
    (found,) = evaluate(bench.store, Subject(REPO, name, name), bench.sandbox)
    return found


@pytest.mark.invariant(2)
@pytest.mark.parametrize(("name", "outcome"), [("oracle", "resolved"), ("nop", "empty")])
def test_oracle_is_resolved_and_nop_is_not(bench: Bench, name: str, outcome: str) -> None:
    Predictor(bench.store, REPO, name, name, models=SHIPPED).predict()
    assert verdict(bench, name).outcome == outcome


@pytest.mark.rule("local-sandbox")
def test_a_wrong_patch_of_a_model_is_unresolved(bench: Bench) -> None:
    """Untrusted code may run here."""
    fields = {"instance_id": bench.instance.instance_id, "model_name_or_path": "wrong", "model_patch": WRONG}
    path = bench.store.predictions(REPO, "wrong", "wrong") / "20240506T070809Z" / "predictions.jsonl"
    write_records(path, [Prediction(**fields)])
    found = verdict(bench, "wrong")
    assert (found.outcome, set(found.unfixed)) == ("unresolved", set(bench.instance.f2p_tests))
    assert found.broken == {}


# -- what is in the image --------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def image(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tarfile.TarFile]:
    """The whole file system of the instance's image, from a container that was never started."""
    path = tmp_path_factory.mktemp("image") / "image.tar"
    container = docker("create", instance_image(bench.instance.image), "true").strip()
    docker("export", "--output", str(path), container)
    docker("rm", container)
    with tarfile.open(path) as archive:
        yield archive
    path.unlink()


def docker(*words: str) -> str:
    return subprocess.run(["docker", *words], check=True, capture_output=True, text=True).stdout


@pytest.mark.invariant(1)
@pytest.mark.trap("history-in-image")
def test_no_file_of_the_image_contains_the_solution(bench: Bench, image: tarfile.TarFile) -> None:
    """In another benchmark, gold and test patch lie in the image in which an agent works."""
    lines = {line for line in later_lines(bench.clone, bench.instance) if "hb-" in line}
    canaries = [line.encode() for line in gold_lines(bench.clone, bench.instance) | lines if len(line) > 30]
    assert len(canaries) > 5 and any(member.name.endswith("Toggle.tsx") for member in image)
    held = []
    for member in image:
        data = image.extractfile(member).read() if member.isfile() else b""
        held += [member.name for canary in canaries if canary in data]
    assert held == []


@pytest.mark.invariant(1)
@pytest.mark.trap("history-in-image")
def test_the_images_git_has_one_commit_and_no_remote(bench: Bench, image: tarfile.TarFile, tmp_path: Path) -> None:
    """21% of one model's runs found the fix in the history; unreachable objects would contain it just as well."""
    inside = FOLDER.lstrip("/")
    image.extractall(tmp_path, [member for member in image if member.name.startswith(f"{inside}/.git/")], filter="data")
    repo = git.Repo(tmp_path / inside)
    assert repo.git.rev_list("--all", "--count") == "1"
    assert (list(repo.remotes), repo.tags, [head.name for head in repo.heads]) == ([], [], ["main", "master"])
    objects = repo.git.cat_file("--batch-all-objects", "--batch")
    assert "export function Toggle" in objects
    canaries = gold_lines(bench.clone, bench.instance) | later_lines(bench.clone, bench.instance)
    assert [line for line in canaries if line in objects] == []
    assert bench.instance.merge_sha not in objects


@pytest.mark.invariant(6)
def test_no_secret_of_the_host_reaches_a_container(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "canary-of-the-host")
    with bench.sandbox.open(bench.instance.image) as workspace:
        seen = workspace.run(["env"]).output.decode()
    assert "PATH=" in seen and "canary" not in seen and "TOKEN" not in seen
    described = docker("image", "inspect", instance_image(bench.instance.image))
    assert not re.search(r"canary|TOKEN|proxy", json.dumps(json.loads(described)[0]["Config"]), re.IGNORECASE)
