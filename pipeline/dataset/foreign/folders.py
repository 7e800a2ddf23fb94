"""The files for each program: one function per format, from instances to the files of a folder. Writes the folder.

The grader's token is in the folder, and in scripts that the program copies into a container after the agent has ended.
Whoever has the folder has the solutions, too.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from pipeline.core.briefing import statement
from pipeline.core.errors import UserError, unknown
from pipeline.core.records import Instance
from pipeline.core.store import is_list_of_texts, read_object, write_bytes, write_json, writing_folder
from pipeline.core.texts import read_text
from pipeline.dataset.forms import swe_bench
from pipeline.sandbox.docker.names import REPO, instance_image

HERE = Path(__file__).parent
TOKEN = "grader.token"
#: the script that prints an agent's diff
DIFFERENCE = "difference.sh"
#: the names of the files that an export wrote: the next one removes those that it does not write again
LISTED = ".a11y-bench.json"
ABOUT = """\
# Instances of A11y-Bench, for {program}

{usage}

{graded}This folder holds other people's code, and the solutions: do not publish it.
"""
GRADED = f"""\
A verdict takes `a11y-bench dataset grade --serve --token-file {TOKEN}` on the machine that has the dataset. The images
are those that its build has made. """
#: the formats that are only read, so that no grader is asked
ONLY_READ = {"hugging-face"}
#: SWE-bench's commands, in the folder; the images that it builds have names of its own, and a layer on ours
SWE_BENCH_5 = """\
    swebench dataset build .
    swebench eval data/a11y-bench --task-repo . --predictions predictions.jsonl

The second command builds images and needs Docker's buildx."""
#: limits of a container: seconds for the agent and for the grader, processors, memory
SECONDS, GRADING_SECONDS, CPUS, MEMORY_MB = 3600, 7200, 2, 8192

Files = Iterator[tuple[str, bytes]]


def harbor(instances: Iterable[Instance], token: str) -> Files:
    """A task directory per instance. Harbor copies the script of the tests in after the agent has ended."""
    for instance in instances:
        root = instance.instance_id
        yield f"{root}/instruction.md", _instruction(instance)
        yield f"{root}/task.toml", _task_toml(instance).encode()
        yield f"{root}/environment/Dockerfile", f"FROM {instance_image(instance.image)}\nWORKDIR {REPO}\n".encode()
        yield (
            f"{root}/solution/solve.sh",
            f"#!/bin/sh\ncd {REPO} && git -c 'safe.directory=*' apply /solution/gold.patch\n".encode(),
        )
        yield f"{root}/solution/gold.patch", instance.fix_patch.encode()
        yield f"{root}/tests/test.sh", _script(instance, "harbor", token)
    yield "README.md", _readme("Harbor", "    harbor run --path . --agent oracle")


def _task_toml(instance: Instance) -> str:
    quoted = json.dumps
    return f"""\
schema_version = "1.0"

[metadata]
benchmark = "a11y-bench"
instance_id = {quoted(instance.instance_id)}
repository = {quoted(str(instance.repository))}
base_commit = {quoted(instance.base.sha)}

[agent]
timeout_sec = {SECONDS}.0

[verifier]
timeout_sec = {GRADING_SECONDS}.0

[environment]
docker_image = {quoted(instance_image(instance.image))}
cpus = {CPUS}
memory_mb = {MEMORY_MB}
"""


def inspect(instances: Iterable[Instance], token: str) -> Files:
    """One Inspect task, with a sample and a compose file per instance."""
    rows = []
    for instance in instances:
        rows.append(
            {
                "instance_id": instance.instance_id,
                "repo": str(instance.repository),
                "base_commit": instance.base.sha,
                "statement": statement(instance.task()),
            }
        )
        service = {"image": instance_image(instance.image), "command": ["sleep", "infinity"], "working_dir": REPO}
        limits = {"init": True, "network_mode": "none", "cpus": CPUS, "mem_limit": f"{MEMORY_MB}m"}
        compose = {"services": {"default": service | limits | {"x-local": True}}}
        yield f"compose/{instance.instance_id}.yaml", (json.dumps(compose, indent=2) + "\n").encode()
    yield "instances.jsonl", _lines(rows)
    yield DIFFERENCE, (HERE / DIFFERENCE).read_bytes()
    yield "a11y_bench.py", (HERE / "scorer.py").read_text(encoding="utf-8").replace("@ROOT@", REPO).encode()
    yield "README.md", _readme("Inspect", "    inspect eval a11y_bench.py --model openai/gpt-5")


def swe_bench_5(instances: Iterable[Instance], token: str) -> Files:
    """A task repository of SWE-bench 5. Our verdict is its only test, so its own parsers decide nothing."""
    yield "sweb.yaml", _yaml({"datasets": ["local/a11y-bench"], "splits": ["test"]})
    for instance in instances:
        root, row = f"tasks/{instance.instance_id}", swe_bench(instance)
        name = f"swebench/sweb.eval.x86_64.{instance.instance_id}:latest".lower().replace("__", "_1776_")
        copied = ("instance_id", "repo", "base_commit", "version", "created_at", "environment_setup_commit")
        fields = {name: row[name] for name in copied} | {
            "image": name,
            "split": "test",
            "datasets": ["local/a11y-bench"],
        }
        yield f"{root}/task.yaml", _yaml(fields | {"log_parser": "parse_log_pytest", "eval_type": "pass_and_fail"})
        yield f"{root}/tests.json", _json({"FAIL_TO_PASS": ["a11y-bench-verdict"], "PASS_TO_PASS": []})
        yield f"{root}/problem_statement.md", _instruction(instance)
        if instance.hints.strip():
            yield f"{root}/hints.md", instance.hints.encode()
        yield f"{root}/gold.patch", instance.fix_patch.encode()
        yield f"{root}/test.patch", instance.test_patch.encode()
        yield f"{root}/eval.sh", _script(instance, "swe-bench", token)
        dockerfile = f"FROM {instance_image(instance.image)}\nUSER root\nRUN ln -s {REPO} /testbed\nWORKDIR /testbed\n"
        yield f"{root}/Dockerfile", dockerfile.encode()
    yield "README.md", _readme("SWE-bench 5", SWE_BENCH_5)


def hugging_face(instances: Iterable[Instance], token: str) -> Files:
    """SWE-bench's fields as Parquet, which `datasets.load_dataset(FOLDER)` reads."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rows = [swe_bench(instance) for instance in instances]
    data = BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), data, compression="zstd")
    yield "data/test-00000-of-00001.parquet", data.getvalue()
    head = (
        "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n    path: data/test-*.parquet\n---\n\n"
    )
    usage = '    datasets.load_dataset("FOLDER", split="test")'
    yield "README.md", head.encode() + _readme("Hugging Face datasets", usage, graded="")


#: format -> the files of its folder
FOLDERS: dict[str, Callable[[Iterable[Instance], str], Files]] = {
    "harbor": harbor,
    "inspect": inspect,
    "swe-bench-5": swe_bench_5,
    "hugging-face": hugging_face,
}


def write_folder(form: str, instances: Iterable[Instance], folder: Path, *, replace: bool) -> None:
    """Write a format's folder. With `replace`, other files of an earlier export are removed. Raises UserError for an
    unknown format, and if the folder has files and these are not to be replaced."""
    if form not in FOLDERS:
        raise unknown("format", form, list(FOLDERS))
    if folder.exists() and any(folder.iterdir()):
        if not replace:
            raise UserError("the folder is not empty", path=folder, hint="name another folder, or add --force")
        _fill(form, instances, folder)
        return
    with writing_folder(folder) as made:
        _fill(form, instances, made)


def _fill(form: str, instances: Iterable[Instance], folder: Path) -> None:
    token_file = folder / TOKEN
    token = (read_text(token_file).strip() if token_file.is_file() else "") or secrets.token_urlsafe(32)
    earlier, files = _earlier(folder), dict(FOLDERS[form](instances, token))
    write_json(folder / LISTED, {"files": sorted({*earlier, *files})})  # if this is stopped, the next one clears it
    for name, data in files.items():
        write_bytes(folder / name, data)
        if data.startswith(b"#!"):
            (folder / name).chmod(0o755)
    for name in earlier - files.keys():
        _remove(folder, name)
    write_json(folder / LISTED, {"files": list(files)})
    if form in ONLY_READ:
        token_file.unlink(missing_ok=True)
        return
    write_bytes(token_file, f"{token}\n".encode())
    token_file.chmod(0o600)


def _earlier(folder: Path) -> set[str]:
    """The files that an earlier export wrote. Raises UserError for a list that is none."""
    path = folder / LISTED
    found = read_object(path, "files")["files"] if path.is_file() else []
    if not is_list_of_texts(found):
        raise UserError("not a list of texts", path=path, field="files", hint="name another folder")
    return set(found)


def _remove(folder: Path, name: str) -> None:
    """Remove a file of the folder, and the folders in it that are empty then."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        return
    path.unlink(missing_ok=True)
    for parent in path.parents[: len(Path(name).parts) - 1]:
        if parent.is_dir() and not any(parent.iterdir()):
            parent.rmdir()


def _script(instance: Instance, harness: str, token: str) -> bytes:
    text, difference = ((HERE / name).read_text(encoding="utf-8") for name in ("grade.sh", DIFFERENCE))
    names = {"WAY": harness, "INSTANCE": instance.instance_id, "TOKEN": token, "ROOT": REPO}
    for placeholder, value in {**names, "DIFFERENCE": difference}.items():
        text = text.replace(f"@{placeholder}@", value)
    return text.encode()


def _instruction(instance: Instance) -> bytes:
    return statement(instance.task()).encode()


def _readme(program: str, usage: str, graded: str = GRADED) -> bytes:
    return ABOUT.format(program=program, usage=usage, graded=graded).encode()


def _lines(rows: Iterable[Any]) -> bytes:
    """JSON Lines in ASCII: some readers also end lines at characters such as U+2028, which texts of issues contain."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _yaml(value: Any) -> bytes:
    import yaml

    return yaml.safe_dump(value, sort_keys=True, allow_unicode=True).encode()
