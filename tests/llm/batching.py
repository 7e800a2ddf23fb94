"""A scripted model that also answers in batches: OpenAI's `/files` and `/batches`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pipeline.llm.provider import ROUTES, Handler, Received, Refusal
from pipeline.llm.scripted import ScriptedModel


class BatchHandler(Handler):
    """A batch is answered when its state was asked for twice, unless `held`."""

    speaker: BatchModel

    def do_POST(self) -> None:
        if self.path not in ("/v1/files", "/v1/batches"):
            return super().do_POST()
        fault = self.speaker.receive(Received(self.path, self.headers.get("Authorization", ""), {}))
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if fault.status != 200:
            return self._send(fault.status, {"error": {"message": fault.message}})
        kept = self.speaker.upload(data) if self.path == "/v1/files" else self.speaker.start(json.loads(data))
        return self._send(200, kept)

    def do_GET(self) -> None:
        fault = self.speaker.receive(Received(self.path, self.headers.get("Authorization", ""), {}))
        _, _, kind, name, *_ = self.path.split("/")
        if fault.status != 200:
            self._send(fault.status, {"error": {"message": fault.message}})
        elif kind == "batches":
            self._send(200, self.speaker.state(name))
        else:
            text = self.speaker.files[name].encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)


@dataclass
class BatchModel(ScriptedModel):
    """`files` and `batches` by id; `ends` is the state in which batches end (with an error's `code` if they
    fail), and those that are `held` do not. `noise` comes before the answers."""

    handler: ClassVar[type[Handler]] = BatchHandler
    files: dict[str, str] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    ends: str = "completed"
    code: str = "invalid_request"
    held: bool = False
    noise: tuple[str, ...] = ()

    @property
    def sizes(self) -> list[int]:
        """The number of requests of each batch."""
        return [len(self.files[batch["input_file_id"]].splitlines()) for batch in self.batches.values()]

    def upload(self, data: bytes) -> dict[str, Any]:
        rows = re.findall(rb'^\{"custom_id".*\}$', data.replace(b"\r", b""), re.MULTILINE)
        name = f"file-{len(self.files)}"
        self.files[name] = b"\n".join(rows).decode()
        return {"id": name}

    def start(self, batch: dict[str, Any]) -> dict[str, Any]:
        name = f"batch-{len(self.batches)}"
        self.batches[name] = batch | {"id": name, "status": "validating"}
        return self.batches[name]

    def state(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        if batch["status"] == "validating":
            batch["status"] = "in_progress"
        elif batch["status"] == "in_progress" and not self.held:
            batch |= self._ended(batch)
        return batch

    def _ended(self, batch: dict[str, Any]) -> dict[str, Any]:
        if self.ends == "failed":
            return {"status": "failed", "errors": {"data": [{"code": self.code, "message": "line 1 is wrong"}]}}
        rows = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        done = [self._row(row) for row in (rows if self.ends == "completed" else rows[:1])]
        file = f"file-{len(self.files)}"
        self.files[file] = "\n".join((*self.noise, *(json.dumps(row, ensure_ascii=False) for row in done)))
        counts = {"total": len(rows), "completed": len(done), "failed": 0}
        return {"status": self.ends, "output_file_id": file, "error_file_id": None, "request_counts": counts}

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        fault = self.receive(Received(row["url"], "", row["body"]))
        try:
            if fault.status != 200:
                raise Refusal(fault.status, fault.message)
            status, body = 200, ROUTES[row["url"]](row["body"], self.reply, fault)
        except Refusal as refusal:
            status, body = refusal.status, {"error": {"message": str(refusal)}}
        return {"custom_id": row["custom_id"], "response": {"status_code": status, "body": body}, "error": None}
