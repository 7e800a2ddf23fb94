"""GitHub's GraphQL API, through gql over aiohttp, in a thread: the next page is fetched while one is processed.

Every query asks for its cost and the remaining limit. Queries are repeated after limits and after broken or partial
answers; a page that the server cannot deliver is requested in a smaller size.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from itertools import count
from typing import Any, NamedTuple

from gql import Client, GraphQLRequest
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportError, TransportQueryError, TransportServerError

from pipeline.collect.github.limits import Refusal, Token, Tokens
from pipeline.core.errors import A11yBenchError

TIMEOUT = 60
#: the smallest size of a page, and the number of tries after which a partial answer is returned
SMALLEST, PARTIAL_TRIES = 10, 4
#: GitHub's names of the same error: no points are left
LIMITED = ("RATE_LIMITED", "RATE_LIMIT")
#: types of errors that a retry does not solve
LASTING = ("NOT_FOUND", "FORBIDDEN")


class Answer(NamedTuple):
    """The data, and the errors that came with them: each with `type`, `path`, `message`."""

    data: Mapping[str, Any]
    errors: Sequence[Mapping[str, Any]]


class Refused(A11yBenchError):
    """GitHub refuses the query; `type` is GitHub's name of the error (`NOT_FOUND`, `INVALID_CURSOR_ARGUMENTS`)."""

    def __init__(self, kind: str, message: str) -> None:
        self.type = kind
        super().__init__(f"GitHub refuses the query: {message} ({kind or 'no type'})")


class GraphQL:
    """One connection to `url`. Close it."""

    def __init__(self, url: str, tokens: Tokens) -> None:
        self.tokens = tokens
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="graphql", daemon=True)
        self._thread.start()
        self._transport = AIOHTTPTransport(url, timeout=TIMEOUT, ssl=True, headers={"User-Agent": "a11y-bench"})
        self._client = Client(transport=self._transport, execute_timeout=None)
        self._session = self._run(self._client.connect_async()).result()

    def send(self, query: str, **variables: Any) -> Future[Answer]:
        """Send a query; the future raises Refused, UserError (no token is left) or InfrastructureError.

        An answer with errors may be incomplete (answers.py).
        """
        return self._run(self._ask(GraphQLRequest(query, variable_values=variables)))

    def ask(self, query: str, **variables: Any) -> Answer:
        """Send a query and wait for the answer."""
        return self.send(query, **variables).result()

    def close(self) -> None:
        """End the connection and its thread."""
        self._run(self._client.close_async()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _ask(self, request: GraphQLRequest) -> Answer:
        for attempt in count():
            token, wait = self.tokens.next()
            if wait:
                await asyncio.sleep(wait)
            answer = await self._try(request, token)
            if isinstance(answer, Answer) and (not _broken(answer) or attempt + 1 >= PARTIAL_TRIES):
                return answer
            refusal = Refusal(200, "an answer in part") if isinstance(answer, Answer) else answer
            if not self.tokens.refused(token, refusal, attempt):
                raise Refused(str(refusal.status), refusal.message)
            request = _smaller(request)
        raise AssertionError("count() does not end")

    async def _try(self, request: GraphQLRequest, token: Token) -> Answer | Refusal:
        headers = {"Authorization": f"bearer {token.value}"}
        try:
            data = await self._session.execute(request, extra_args={"headers": headers})
            return _with_limit_noted(Answer(data, ()), token)
        except TransportQueryError as error:
            return self._answered(Answer(error.data or {}, error.errors or ()), token)
        except TransportServerError as error:
            unexplained = "a secondary limit, or no access: " if error.code == 403 else ""
            return Refusal(error.code or 0, f"{unexplained}{error}", self._headers())
        except TransportError as error:
            return Refusal(0, f"{type(error).__name__}: {error}")

    def _answered(self, answer: Answer, token: Token) -> Answer | Refusal:
        """An answer with errors: returned as it is if it has data, otherwise raised as Refused."""
        if any(error.get("type") in LIMITED for error in answer.errors):
            return Refusal(200, "RATE_LIMITED", self._headers())
        kind, message = answer.errors[0].get("type"), answer.errors[0].get("message", "")
        if kind == "NOT_FOUND" or any(value for name, value in answer.data.items() if name != "rateLimit"):
            return _with_limit_noted(answer, token)
        if kind:
            raise Refused(kind, message)
        return Refusal(200, message)

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in (self._transport.response_headers or {}).items()}


def _with_limit_noted(answer: Answer, token: Token) -> Answer:
    """The same answer; its rate limit is noted for the token."""
    limit = answer.data.get("rateLimit")
    if limit:
        token.note(limit["remaining"], limit["resetAt"])
    return answer


def _broken(answer: Answer) -> bool:
    """Whether something is missing that a retry may give."""
    return any(error.get("type") not in LASTING for error in answer.errors)


def _smaller(request: GraphQLRequest) -> GraphQLRequest:
    values = dict(request.variable_values or {})
    if "first" in values:
        values["first"] = max(SMALLEST, values["first"] // 2)
    return GraphQLRequest(request.document, variable_values=values)
