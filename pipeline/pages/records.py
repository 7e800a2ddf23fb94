"""The records of the page track: answers, verdicts and their parts. Reads and writes nothing."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from pipeline.core.record import Record, Usd, Versioned

#: a requirement affects the verdict, a best practice is counted separately
Kind = Literal["R", "BP"]
#: results of a page; only `error` is not in the n of pass@k
Result = Literal["passed", "failed", "error"]


class Assertion(Record):
    """The result of one assertion on a page."""

    name: str
    status: Literal["pass", "fail"]
    type: Kind = "R"
    message: str = ""


class Element(Record):
    """An element that violates a rule, by axe-core's selector; `html` is its beginning."""

    html: str
    target: tuple[str, ...]


class Violation(Record):
    """One rule of axe-core that a page violates. `frame` counts from 0, the page itself; `count` is of all elements."""

    id: str
    impact: str = ""
    description: str = ""
    help: str = ""
    helpUrl: str = ""
    tags: tuple[str, ...] = ()
    frame: int = 0
    count: int = 0
    nodes: tuple[Element, ...] = ()


class Usage(Record):
    """Tokens and USD of one request; None if the provider did not report them, which means unknown, never 0."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: Usd | None = None


class PageAnswer(Versioned):
    """One answer of a model to the prompt of a case. `html` is the path of the page in the run's folder."""

    case: str
    model: str
    sample: int = Field(ge=0)
    html: str
    digest: str = Field(description="of the extracted page, which is run")
    seed: int | None = None
    temperature: float | None = None
    usage: Usage = Usage()
    latency_s: float = Field(default=0, description="of the request that returned it")
    cached: bool = Field(default=False, description="whether another run paid for it")
    finish: str = Field(default="", description="why the model stopped, as the provider says")

    @property
    def key(self) -> tuple[str, str, int]:
        return self.case, self.model, self.sample


class PageVerdict(Versioned):
    """The verdict on one page, from (page, case, law, versions) and nothing else.

    `cause` says what decided if neither assertions nor axe-core did: from a closed list (`pipeline.pages.verdict`).
    """

    case: str
    model: str
    sample: int = Field(ge=0)
    result: Result
    cause: str = ""
    detail: str = ""
    assertions: tuple[Assertion, ...] = ()
    violations: tuple[Violation, ...] = Field(default=(), description="of the rules that count")
    advice: tuple[Violation, ...] = Field(default=(), description="of the rules that are counted separately")
    incidents: tuple[str, ...] = Field(default=(), description="kinds of the page's unrequested actions")
    digest: str = ""
    case_digest: str = ""
    law: str = ""
    ran: dict[str, str] = Field(default={}, description="exact versions of the programs")

    @property
    def key(self) -> tuple[str, str, int]:
        return self.case, self.model, self.sample

    @property
    def passed(self) -> bool:
        return self.result == "passed"

    def holds(self, kind: Kind) -> bool | None:
        """Whether all assertions of a kind hold; None if there are none. They do not hold on a page that is off task,
        or that was cut short, since further assertions may be missing."""
        outcomes = [assertion.status == "pass" for assertion in self.assertions if assertion.type == kind]
        return all(outcomes) and not self.cause if outcomes else None


class Observed(Record):
    """The engine's observation of a page: the result of a unit of work, before any judgement.

    `ended` is the limit that cut it short; `fault` a fault of the case, `machine` of the machine or the runner; `busy`
    says what other programs used, if they left too little for a page; `threw` is what the case threw outside its
    assertions, and `used` whether it had begun. `incidents` counts the page's unrequested actions by kind, `examples`
    shows the first of each kind. Seconds are by step.
    """

    ended: str = ""
    detail: str = ""
    fault: str = ""
    machine: str = ""
    busy: str = ""
    threw: str = ""
    used: bool = False
    off_task: str = ""
    assertions: tuple[Assertion, ...] = ()
    violations: tuple[Violation, ...] = ()
    audits: int = 0
    incidents: dict[str, int] = {}
    examples: dict[str, list[Any]] = {}
    seconds: dict[str, float] = {}
    ran: dict[str, str] = {}

    @property
    def is_doubtful(self) -> bool:
        """Whether either the page or the case may be at fault; running the case on a correct page decides. A page that
        is not about the case has failed before."""
        cut_short = self.ended in ("ended", "hung") or bool(self.ended and self.used)
        return not (self.machine or self.fault or self.off_task) and (cut_short or bool(self.threw))
