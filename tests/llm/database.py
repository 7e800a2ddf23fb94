"""The deployed proxy without containers: a real PostgreSQL, and LiteLLM as docker/proxy/compose.yaml runs it.

Command, configuration, environment and health check come from the compose file, except for the port, the folder and the
length of a minute. PostgreSQL does not run as root, since it refuses to. LiteLLM's database access is set up by
A11Y_BENCH_LITELLM_DB_SETUP, a script with the arguments of docker/proxy/setup.sh, which is the default.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.core.cache import cache_root
from pipeline.core.store import digest
from pipeline.doctor import postgresql

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker" / "proxy" / "compose.yaml"
SETUP = Path(os.environ.get("A11Y_BENCH_LITELLM_DB_SETUP", ROOT / "docker" / "proxy" / "setup.sh"))
#: seconds: on two idle cores it takes 30
START_LIMIT = 600
MASTER_KEY = "sk-canary-of-the-master"
#: seconds that count as a minute in the proxy
MINUTE = 4


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def database() -> Iterator[str]:
    """A PostgreSQL server with an empty database; gives its URL."""
    port, folder = free_port(), Path(tempfile.mkdtemp(prefix="a11y-bench-postgresql-", dir="/tmp"))
    shutil.chown(folder, "postgres")
    control = ["runuser", "-u", "postgres", "--", str(postgresql() / "pg_ctl"), "--pgdata", str(folder / "data")]
    try:
        run(*control, "--options", "--auth=trust --username=litellm --no-sync", "initdb")
        run(
            *control,
            "--options",
            f"-p {port} -k {folder} -c fsync=off",
            "--log",
            str(folder / "log"),
            "--wait",
            "start",
        )
        try:
            run(str(postgresql() / "createdb"), "--host=127.0.0.1", f"--port={port}", "--username=litellm", "litellm")
            yield f"postgresql://litellm@127.0.0.1:{port}/litellm"
        finally:
            run(*control, "--mode=immediate", "stop")
    finally:
        shutil.rmtree(folder)


def run(*command: str) -> None:
    """Output goes to a file, since a server that was started keeps its pipe open."""
    with tempfile.TemporaryFile("w+") as output:
        code = subprocess.run(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, cwd="/").returncode
        output.seek(0)
        assert code == 0, output.read()


@contextmanager
def proxy(url: str, models: Path, log: Path, given: Mapping[str, str]) -> Iterator[str]:
    """The compose file's proxy with these models; gives its address."""
    folder, port, home = cache_root() / "litellm-database" / digest(SETUP.read_bytes()), free_port(), models.parent
    set_up(folder, url)
    service = _service(home / "proxy", port)
    for volume in service["volumes"]:
        source, target, _ = volume.split(":")
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(COMPOSE.parent / source, target)
    shutil.copy(models, home / "proxy" / "models.yaml")
    _shorten_minutes(home / "proxy")
    command = ["bash", "-c", '. "$0" && exec "$LITELLM" "$@"', str(folder / "env.sh"), *service["command"]]
    fixed = {name: value for name, value in service["environment"].items() if "$" not in value}
    environment = {**os.environ, **fixed, **given, "LITELLM_MASTER_KEY": MASTER_KEY}
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=output, stderr=output)
    try:
        wait(process, [sys.executable, *service["healthcheck"]["test"][2:]], log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def _shorten_minutes(folder: Path) -> None:
    """Let the proxy count requests over MINUTE seconds instead of sixty."""
    text = f"from pipeline.llm.paced import Paced\n\npolicy = Paced({MINUTE})\n"
    (folder / "short.py").write_text(text, encoding="utf-8")
    configuration = folder / "config.yaml"
    said = configuration.read_text(encoding="utf-8")
    assert said.count("pipeline.llm.paced.policy") == 1
    configuration.write_text(said.replace("pipeline.llm.paced.policy", "short.policy"), encoding="utf-8")


def _service(folder: Path, port: int) -> dict[str, Any]:
    """The compose file's entry for the proxy, with its files in `folder` and a port of the loopback."""
    text = COMPOSE.read_text(encoding="utf-8").replace(":/proxy/", f":{folder}/").replace(" /proxy/", f" {folder}/")
    return yaml.safe_load(text.replace("0.0.0.0", "127.0.0.1").replace("4000", str(port)))["services"]["proxy"]


def set_up(folder: Path, url: str) -> None:
    """Skips with a message, or fails in CI, if LiteLLM's database access cannot be set up."""
    try:
        run(str(SETUP), str(folder), url)
    except AssertionError as error:
        refuse = pytest.fail if os.environ.get("CI") else pytest.skip
        refuse(f"this machine has no LiteLLM with a database (A11Y_BENCH_LITELLM_DB_SETUP): {str(error)[:500]}")


def wait(process: subprocess.Popen[bytes], health: list[str], log: Path) -> None:
    """Wait until the health check says that it is ready."""
    deadline = time.monotonic() + START_LIMIT
    while subprocess.run(health, stderr=subprocess.DEVNULL).returncode:
        assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-3000:]
        time.sleep(0.5)
