"""The verdict on one patch, from Python, or over HTTP for the containers of other harnesses.

Every patch is run and stored as in stage 04, so the same patch is run once. Only test runs are written to
`04_evaluation`; a verdict given here enters no table. Over HTTP a token is required, since an agent may be able to
reach the address. If a patch cannot be evaluated, the response is an error, never a verdict.

    POST /grade/INSTANCE      the patch; answers with the verdict as JSON: outcome, cause, resolved
"""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from functools import partial
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pipeline.core.dataset import read_dataset
from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.git import require_commit
from pipeline.core.names import parse_instance_id
from pipeline.core.records import Instance, Outcome, Prediction, Verdict
from pipeline.core.store import Store
from pipeline.core.trust import require_trust
from pipeline.evaluate.grade import Graded, of_tested, sign, without_run
from pipeline.evaluate.runs import How, PatchRuns, patch_runs
from pipeline.execution import images
from pipeline.execution.run import PatchRun
from pipeline.sandbox.images import Directory

#: the agent's name in the records of these verdicts
WHO = ("graded", "graded")
#: the largest patch, in bytes
LARGEST = 50_000_000


class Grader:
    """Grades patches for the instances of a data directory. Threads share it; `jobs` patches run at once."""

    def __init__(self, store: Store, how: How, *, trust_local: bool = False, jobs: int = 1) -> None:
        self._store, self._how, self._trust_local = store, how, trust_local
        self._turns, self._keeping = threading.Semaphore(jobs), threading.Lock()
        how.sandbox.images.serve(Directory.here(store.root))

    def instance(self, name: str) -> Instance:
        """The instance of this name, in any form. Raises UserError for an unknown one."""
        repo, number = parse_instance_id(name)
        wanted = repo.instance_id(number)
        instance = next((record for record in read_dataset(self._store, repo) if record.instance_id == wanted), None)
        if instance is None:
            hint = f"build it: just build-run {repo} --pr {number}"
            raise UserError(f"{name} is not in the dataset of {repo}", hint=hint)
        return instance

    def grade(self, name: str, patch: str) -> Verdict:
        """The verdict on a patch. Raises UserError for an unknown instance, and for untrusted code in the local
        sandbox."""
        instance = self.instance(name)
        clone = images.source(self._store, instance.repository)
        require_commit(clone, instance.base.sha)
        require_trust(self._how.sandbox.name, self._trust_local, instance.base.sha, trusted_patch=False)
        agent, model = WHO
        prediction = Prediction(
            instance_id=instance.instance_id, model_name_or_path=model, agent=agent, model_patch=patch
        )
        graded = without_run(prediction)
        if graded is None:
            with self._turns:
                runs = patch_runs(self._store, instance.repository, self._how, clone)
                graded = of_tested(instance, self._tested(runs, instance, patch))
        return sign(instance, *WHO, "", prediction, graded)

    def too_large(self, name: str) -> Verdict:
        """The verdict on a patch that is too large to be graded: an agent that leaves one has no answer. Raises
        UserError for an unknown instance."""
        graded = Graded(Outcome.NO_PREDICTION, f"the patch has more than {LARGEST} bytes")
        return sign(self.instance(name), *WHO, "", None, graded)

    def _tested(self, runs: PatchRuns, instance: Instance, patch: str) -> PatchRun:
        if tested := runs.kept(instance, patch):
            return tested
        request = runs.request(instance, patch)
        try:
            tested = request.perform(lambda event: None)
        except Exception as error:  # the border of an instance: the verdict says what failed
            tested = request.failed(error)
        with self._keeping:
            runs.keep(instance, patch, tested)
        return tested


def described(verdict: Verdict) -> dict[str, Any]:
    """The fields of a verdict that other programs need."""
    fields = {"instance_id": verdict.instance_id, "outcome": str(verdict.outcome), "cause": verdict.cause}
    return fields | {"resolved": verdict.outcome is Outcome.RESOLVED, "law": verdict.law}


def server(grader: Grader, host: str, port: int, token: str) -> ThreadingHTTPServer:
    """A server that grades until it is shut down; port 0 means any free port."""
    http_server = ThreadingHTTPServer((host, port), partial(_Handler, grader, token))
    http_server.daemon_threads = True
    return http_server


class _Handler(BaseHTTPRequestHandler):
    """One request: takes a patch, answers with a verdict."""

    def __init__(self, grader: Grader, token: str, *connection: Any) -> None:
        self._grader, self._token = grader, token
        super().__init__(*connection)

    def do_POST(self) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        folder, _, name = self.path.rpartition("/")
        if not compare_digest(token.encode(), self._token.encode()):
            self._say(401, {"error": "wrong or missing token"})
        elif folder != "/grade":
            self._say(404, {"error": "unknown path; use /grade/INSTANCE"})
        else:
            self._grade(name)

    def _grade(self, name: str) -> None:
        try:
            size = int(self.headers.get("Content-Length", ""))
            if size < 0:
                raise ValueError
            patch = self._patch(size)
        except ValueError:
            self._say(400, {"error": "send the patch as text (UTF-8) with a Content-Length"})
            return
        try:
            answer = described(self._grader.too_large(name) if patch is None else self._grader.grade(name, patch))
        except A11yBenchError as error:
            self._say(404 if isinstance(error, UserError) else 503, {"error": str(error)})
            return
        self._say(503 if answer["outcome"] == Outcome.NOT_EVALUATED else 200, answer)

    def _patch(self, size: int) -> str | None:
        """The patch; None for one that is too large. That is read, too, since its client reads no answer before."""
        if size <= LARGEST:
            return self.rfile.read(size).decode()
        while size and (part := self.rfile.read(min(size, 2**20))):
            size -= len(part)
        return None

    def _say(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        with suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: graded patches are stored."""
