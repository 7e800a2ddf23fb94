"""Runs mini-swe-agent on one task, inside the container of its instance.

Reads the prompt, the settings, and the gateway's address and key from OPENAI_BASE_URL and OPENAI_API_KEY, which the
model's commands cannot see. Writes trajectory.json, and metadata.json or, if the provider failed, error.json (exit code
75). The answer is what it changes in the checkout. Runs in an environment of its own with mini-swe-agent and its
dependencies (requirements.txt), without the pipeline.
"""

import argparse
import base64
import json
import os
import signal
import sys
import tomllib
from pathlib import Path

import requests
import wire
import yaml
from minisweagent.agents.default import DefaultAgent
from minisweagent.config import builtin_config_dir
from minisweagent.environments.local import LocalEnvironment
from minisweagent.exceptions import InterruptAgentFlow
from minisweagent.models.openrouter_model import BASH_TOOL, OpenRouterModel

#: EX_TEMPFAIL of sysexits.h: the failure is not the agent's
EX_TEMPFAIL = 75
#: mini-swe-agent's exit status -> the outcome; a submission is judged by its diff
OUTCOMES = {
    "Submitted": "",
    "LimitsExceeded": "STEP_LIMIT",
    "TimeExceeded": "TIME_LIMIT",
    "RepeatedFormatError": "NO_MODEL_RESPONSE",
    "ContextOverflow": "CONTEXT_OVERFLOW",
    "Refused": "NO_MODEL_RESPONSE",
}
#: the header with the gateway's cause of a missing answer, and the causes that are an outcome of the model
CAUSE = "x-a11y-bench-cause"
OWN_ENDS = {"context": "ContextOverflow", "refused": "Refused"}
#: extension of a picture -> its media type
MEDIA = {".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}


class ProviderFailure(Exception):
    """There is no answer, and the model is not to blame."""

    def __init__(self, cause: str, message: str) -> None:
        self.cause = cause
        super().__init__(message)


class GatewayModel(OpenRouterModel):
    """mini-swe-agent's simplest model class, which sends and reads JSON, with the gateway's address."""

    abort_exceptions = [Exception]  # retries are the gateway's, or asked for by it (wire.py)

    def __init__(self, seconds: float, pictures: list[dict], **config: object) -> None:
        super().__init__(cost_tracking="ignore_errors", **config)
        self._api_url = os.environ.pop("OPENAI_BASE_URL") + "/chat/completions"
        self._api_key = os.environ.pop("OPENAI_API_KEY")
        self._seconds, self._pictures, self._http = seconds, pictures, wire.session()

    def _query(self, messages: list[dict], **more: object) -> dict:
        body = {"model": self.config.model_name, "messages": shown(messages, self._pictures), "tools": [BASH_TOOL]}
        headers = {"Authorization": f"Bearer {self._api_key}"}
        try:
            answer = self._http.post(
                self._api_url, json=body | self.config.model_kwargs | more, headers=headers, timeout=self._seconds
            )
        except requests.RequestException as error:
            raise ProviderFailure("unreachable", str(error)) from None
        if not answer.ok:
            raise _refused(answer)
        if not answer.json().get("choices"):
            raise ProviderFailure("provider_error", "an answer without choices")
        return answer.json()


def shown(messages: list[dict], pictures: list[dict]) -> list[dict]:
    """The messages, with the pictures after the text of the first user message; stored messages have none."""
    first = next((index for index, entry in enumerate(messages) if entry["role"] == "user"), None)
    if first is None or not pictures:
        return messages
    told = {**messages[first], "content": [{"type": "text", "text": messages[first]["content"]}, *pictures]}
    return [*messages[:first], told, *messages[first + 1 :]]


def load(folder: Path) -> list[dict]:
    """The pictures in a folder, in the order of their numbers, as parts of a message."""
    paths = sorted(folder.iterdir(), key=lambda path: int(path.stem)) if folder.is_dir() else []
    addresses = (f"data:{MEDIA[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}" for path in paths)
    return [{"type": "image_url", "image_url": {"url": address}} for address in addresses]


def _refused(answer: requests.Response) -> Exception:
    text, cause = f"{answer.status_code} {answer.text[:500]}", answer.headers.get(CAUSE, "provider")
    if cause in OWN_ENDS:
        ended = {"exit_status": OWN_ENDS[cause], "submission": ""}
        return InterruptAgentFlow({"role": "exit", "content": text, "extra": ended})
    return ProviderFailure("budget_exceeded" if "budget_exceeded" in text else cause, text)


def run(arguments: argparse.Namespace) -> str:
    """Work on the task; returns how mini-swe-agent ended. Raises ProviderFailure."""
    settings = tomllib.loads(arguments.settings.read_text(encoding="utf-8-sig"))
    config = yaml.safe_load((builtin_config_dir / settings["config"]).read_text(encoding="utf-8"))
    model = GatewayModel(
        settings["answer_seconds"],
        load(arguments.pictures),
        model_name=arguments.model,
        model_kwargs=settings["request"],
        observation_template=config["model"]["observation_template"],
        format_error_template=config["model"]["format_error_template"],
    )
    places = {
        "cwd": str(arguments.checkout),
        "timeout": settings["command_seconds"],
        "env": config["environment"]["env"],
    }
    agent = DefaultAgent(
        model,
        LocalEnvironment(**places),
        system_template=config["agent"]["system_template"],
        instance_template=config["agent"]["instance_template"],
        step_limit=settings["steps"],
        cost_limit=0,
        wall_time_limit_seconds=settings["seconds"],
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # its time limit
    try:
        return agent.run(arguments.prompt.read_text(encoding="utf-8"))["exit_status"]
    finally:  # written once: with the path, mini-swe-agent would write the whole file at each step
        agent.save(arguments.out / "trajectory.json")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("prompt", "pictures", "checkout", "out", "settings"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    try:
        outcome = OUTCOMES[run(arguments)]
    except ProviderFailure as failure:
        _write(arguments.out / "error.json", {"cause": failure.cause, "message": str(failure)})
        return EX_TEMPFAIL
    if outcome:
        _write(arguments.out / "metadata.json", {"outcome": outcome})
    return 0


def _write(path: Path, value: dict[str, str]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
