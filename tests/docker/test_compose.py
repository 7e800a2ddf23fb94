"""The compose files are valid, pinned and without secrets, and serve the models in the list."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.llm.models import SHIPPED, load_models

DOCKER = Path(__file__).parents[2] / "docker"
FILES = {path.parent.name: path for path in sorted(DOCKER.glob("*/compose.yaml"))}
LITELLM = DOCKER.parent / "vendors" / "litellm" / "requirements.in"


def services(name: str) -> dict[str, dict[str, Any]]:
    return yaml.safe_load(FILES[name].read_text(encoding="utf-8"))["services"]


SERVICES = [pytest.param(service, id=name) for file in FILES for name, service in services(file).items()]


def test_every_compose_file_is_listed() -> None:
    assert list(FILES) == ["ollama", "proxy", "vllm"]


@pytest.mark.parametrize("name", FILES)
def test_every_file_follows_the_compose_schema(name: str) -> None:
    """By the schema of the Compose specification that check-jsonschema contains."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", FILES[name]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("service", SERVICES)
def test_images_are_pinned(service: dict[str, Any]) -> None:
    assert re.search(r":v?\d+\.\d+(\.\d+)?(-\w+)?$", service["image"]), service["image"]


@pytest.mark.parametrize("service", SERVICES)
def test_ports_are_open_on_the_loopback_only(service: dict[str, Any]) -> None:
    """Anybody could use a model server that is open to the network."""
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


@pytest.mark.parametrize("service", SERVICES)
def test_every_permanent_service_has_a_health_check(service: dict[str, Any]) -> None:
    assert ("healthcheck" in service) == (service["restart"] == "unless-stopped")


@pytest.mark.invariant(6)
@pytest.mark.parametrize("service", SERVICES)
def test_secrets_come_from_the_environment(service: dict[str, Any]) -> None:
    secret = {
        name: value for name, value in service.get("environment", {}).items() if re.search("KEY|PASSWORD|TOKEN", name)
    }
    assert all(re.fullmatch(r"\$\{\w+(:-|:\?[^}]+)\}", value) for value in secret.values()), secret
    assert not re.search(r"sk-\w", str(service))


def test_the_proxy_has_every_variable_of_the_list() -> None:
    wanted = {name for model in load_models(SHIPPED).models.values() for name in model.environment}
    assert wanted <= set(services("proxy")["proxy"]["environment"])


@pytest.mark.parametrize(("server", "service"), [("ollama", "ollama"), ("vllm", "vllm"), ("vllm", "vllm-embedding")])
def test_the_proxy_finds_the_servers(server: str, service: str) -> None:
    """By the service's name, with the internal port; all three files are one compose project."""
    assert service in services(server)
    port = services(server)[service]["ports"][0].rpartition(":")[2]
    assert f"http://{service}:{port}/v1" in services("proxy")["proxy"]["environment"].values()
    assert len({yaml.safe_load(path.read_text())["name"] for path in FILES.values()}) == 1


def test_the_servers_serve_models_of_the_list() -> None:
    asked = {
        model.entry["litellm_params"]["model"].removeprefix("openai/") for model in load_models(SHIPPED).models.values()
    }
    served = re.findall(r"ollama pull (\S+?)\"?(?: |\"|\])", FILES["ollama"].read_text())
    served += [service["command"][0] for service in services("vllm").values()]
    assert len(served) == 4 and set(served) <= asked


@pytest.mark.parametrize("service", services("vllm").values(), ids=services("vllm"))
def test_vllm_gets_its_model_as_an_argument(service: dict[str, Any]) -> None:
    """`vllm serve` takes the name as an argument and refuses --model; the module in some images ignores it."""
    assert service["entrypoint"] == ["vllm", "serve"]
    assert "--model" not in service["command"] and "--task" not in service["command"]
    assert service["ports"][0].endswith(":" + service["command"][service["command"].index("--port") + 1])


def test_the_image_is_of_the_pinned_release() -> None:
    release = re.search(r"litellm\[proxy\]==(\S+)", LITELLM.read_text())[1]
    assert services("proxy")["proxy"]["image"].endswith(f":{release}")
