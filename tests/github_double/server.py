"""The double's HTTP server: a thread with aiohttp on loopback, in front of queries.py and rest.py.

Order of a request: token and user agent, fault, budget, answer. The record counts all of them.
"""

from __future__ import annotations

import asyncio
import json
from threading import Event, Thread

from aiohttp import web

from github_double import rest
from github_double.budget import Budget
from github_double.faults import Answer, Call, Fault, Planned
from github_double.problems import NotModelled
from github_double.queries import answer as answer_query
from github_double.record import Record, Request, token_digest
from github_double.schema import github_schema
from github_double.world import World

HOST = "127.0.0.1"


class GitHubDouble:
    """GitHub on loopback for one world, for the duration of its `with` block; `url` is its address.

    `limit` points for each token in `window` seconds. Every answer is delayed by `latency` seconds.
    """

    def __init__(self, world: World, limit: int = 5000, window: float = 3600.0, latency: float = 0.0) -> None:
        self.world, self.latency = world, latency
        self.url = ""
        self._record = Record()
        self._new_budget = lambda: Budget(limit, window)
        self._budgets: dict[tuple[str, str], Budget] = {}
        self._planned: list[Planned] = []
        self._revoked: set[str] = set()
        self._ready, self._loop = Event(), asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = Thread(target=self._loop.run_until_complete, args=(self._serve(),), daemon=True)

    def __enter__(self) -> GitHubDouble:
        github_schema()
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    def fault(self, fault: Fault, after: int = 0, times: int = 1, on: str = "graphql") -> None:
        """Plan a fault: `after` requests pass first, the next `times` get it. `on` is graphql, rest or any."""
        self._planned.append(Planned(fault, after, times, on))

    def revoke(self, token: str) -> None:
        """Refuse a token from now on."""
        self._revoked.add(token_digest(token))

    def expire_cursors(self) -> None:
        """Refuse the cursors given so far."""
        self.world.cursors.epoch += 1

    @property
    def requests(self) -> list[Request]:
        return self._record.requests

    @property
    def points(self) -> int:
        return self._record.points

    @property
    def tokens(self) -> dict[str, int]:
        return self._record.tokens

    @property
    def peak(self) -> int:
        return self._record.peak

    async def _serve(self) -> None:
        app = web.Application(client_max_size=1 << 24)
        app.router.add_get("/_double/record", self._tell)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, HOST, 0)
        await site.start()
        self.url = f"http://{HOST}:{runner.addresses[0][1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _tell(self, _: web.Request) -> web.Response:
        return web.json_response(self._record.summary())

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        kind = "graphql" if request.path == "/graphql" else "rest"
        token = request.headers.get("Authorization", "").partition(" ")[2]
        with self._record.request(request.path, token_digest(token)) as record:
            body = await request.read()
            await asyncio.sleep(self.latency)
            answer = self._refuse(request, token) or await self._fulfil(kind, request, body, record)
            record.status, record.cost = answer.status, answer.points
        return await _send(request, answer)

    def _refuse(self, request: web.Request, token: str) -> Answer | None:
        if not request.headers.get("User-Agent"):
            return _from_rest(rest.refusal(403, "Request forbidden by administrative rules. Send a User-Agent header."))
        if not token or token_digest(token) in self._revoked:
            return _from_rest(rest.refusal(401, "Bad credentials" if token else "Requires authentication"))
        return None

    async def _fulfil(self, kind: str, request: web.Request, body: bytes, record: Request) -> Answer:
        budget = self._budgets.setdefault((record.token, kind), self._new_budget())
        make = self._graphql if kind == "graphql" else self._rest

        async def proper() -> Answer:
            try:
                return make(request, body, budget, record)
            except NotModelled as lack:
                text = f"the double does not model {lack}: add it (tests/github_double/model.py)"
                return _from_rest(rest.refusal(501, text))

        fault = next(filter(None, (planned.take(kind) for planned in self._planned)), None)
        record.fault = fault.name if fault else ""
        return await fault.apply(Call(budget, proper)) if fault else await proper()

    def _graphql(self, request: web.Request, body: bytes, budget: Budget, record: Request) -> Answer:
        if request.method != "POST":
            return _from_rest(rest.refusal(404, "Not Found"))
        try:
            asked = json.loads(body)
        except ValueError:
            return _from_rest(rest.refusal(400, "Problems parsing JSON"))
        record.operation, record.query = asked.get("operationName"), asked.get("query", "")
        record.variables = asked.get("variables") or {}
        outcome = answer_query(self.world, asked, budget)
        text = json.dumps(outcome.body, ensure_ascii=False).encode()
        return Answer(200, text, budget.headers("graphql"), points=outcome.points)

    def _rest(self, request: web.Request, body: bytes, budget: Budget, record: Request) -> Answer:
        if request.path == "/rate_limit":
            return _from_rest(self._rate_limits(record.token))
        if not budget.spend(1):
            limited = rest.refusal(403, "API rate limit exceeded for user ID 1.", budget.headers("core"))
            return _from_rest(limited)
        accept = request.headers.get("Accept", "")
        reply = rest.reply(self.world, self.url, request.path, accept, request.query)
        return _from_rest(reply._replace(headers={**budget.headers("core"), **reply.headers}), points=1)

    def _rate_limits(self, token: str) -> rest.Reply:
        budgets = {
            name: self._budgets.setdefault((token, kind), self._new_budget()).summary()
            for name, kind in (("core", "rest"), ("graphql", "graphql"))
        }
        return rest.Reply(200, json.dumps({"resources": budgets, "rate": budgets["core"]}).encode())


def _from_rest(reply: rest.Reply, points: int = 0) -> Answer:
    return Answer(reply.status, reply.body, dict(reply.headers), reply.media, points=points)


async def _send(request: web.Request, answer: Answer) -> web.StreamResponse:
    headers = {"Content-Type": answer.media, "Content-Length": str(len(answer.body)), **answer.headers}
    response = web.StreamResponse(status=answer.status, headers=headers)
    await response.prepare(request)
    await response.write(answer.body[: int(len(answer.body) * answer.share)])
    if answer.share < 1 and request.transport:
        request.transport.close()
    return response
