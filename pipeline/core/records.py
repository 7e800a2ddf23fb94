"""Everything that crosses a stage border, typed and versioned.

`Instance` is a superset of a Multi-SWE-bench dataset record; `Prediction` of a SWE-bench prediction. The JSON Schemas
are published by `a11y-bench schema NAME`. Unknown fields are rejected, so that a typo never passes as data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from pipeline.core import verdict
from pipeline.core.names import Repo
from pipeline.core.ratings import Review
from pipeline.core.record import InstanceId, Record, Usd, Versioned
from pipeline.core.verdict import SNAPSHOT, Counts, Status, TransitionClass, Triple


class Outcome(StrEnum):
    """How the evaluation of one instance can end: a closed set (docs/rules.md, Verdicts)."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    EMPTY = "empty"
    NOT_APPLIED = "not_applied"
    NO_PREDICTION = "no_prediction"
    TAMPERED = "tampered"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    NOT_EVALUATED = "not_evaluated"


#: outcomes of patches whose tests were run
RAN = frozenset({Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.TAMPERED, Outcome.CRASHED, Outcome.TIMEOUT})


#: what is measured: repairs of repositories, or pages that are made from prompts
Track = Literal["repair", "pages"]
REPAIR: Track = "repair"
PAGES: Track = "pages"


#: the source of a task's statement: its linked issues, the pull request's own text, or reviewers who rewrote it
StatementSource = Literal["issue", "pull_request", "review"]


class Base(Record):
    label: str
    ref: str
    sha: str


class Issue(Record):
    number: int
    title: str
    body: str = ""
    state: str = "closed"
    labels: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Its number and title. Statements of other benchmarks have no number."""
        return f"#{self.number}: {self.title}" if self.number else self.title


class Evidence(Record):
    """One match of one pattern. `field` is `title`, `body` or `label`, with the prefix `issue 12 ` for an issue's."""

    field: str
    pattern: str
    text: str
    place: int = Field(ge=0, description="offset of the match in the field, in characters")


class Picture(Record):
    """A picture in a task's statement."""

    address: str = Field(default="", description="where the statement points to; empty: it does not name it")
    media: str = Field(default="", description="media type, as image/png; empty: unknown")
    digest: str = Field(default="", description="SHA-256 of its bytes (01_raw/<repo>/pictures/); empty: not held")


class PullRequest(Versioned):
    """One merged pull request, as a source gave it."""

    org: str
    repo: str
    number: PositiveInt
    state: str = "merged"
    title: str
    body: str = ""
    author: str = ""
    labels: tuple[str, ...] = ()
    base: Base
    merge_sha: str
    merged_at: str
    resolved_issues: tuple[Issue, ...] = ()
    hints: str = ""
    pictures: tuple[Picture, ...] = ()
    origin: str = Field(default="", description="the foreign benchmark whose record it is: base and patches are theirs")

    @property
    def repository(self) -> Repo:
        return Repo(self.org, self.repo)

    @property
    def instance_id(self) -> str:
        return self.repository.instance_id(self.number)


class Candidate(PullRequest):
    """A pull request with source changes, test changes and accessibility evidence."""

    fix_patch: str
    test_patch: str
    a11y_reason: tuple[Evidence, ...] = ()
    statement_source: StatementSource
    statement: str = Field(default="", description="the statement as reviewers rewrote it (source `review`)")
    chosen_by_hand: bool = False
    filters: dict[str, bool] = Field(default={}, description="the result of each filter of the funnel")


class Health(Record):
    """How well a base runs those test files of the scope that exist in it. Without any, nothing is known.

    A file that could not be loaded, or that the runner did not find, is not `loaded`.
    """

    files: int = Field(ge=0, description="test files of the scope that exist")
    loaded: int = Field(default=0, ge=0, description="files of which tests ran")
    tests: int = Field(default=0, ge=0, description="tests in these files")
    passed: int = Field(default=0, ge=0, description="tests that passed, or that the repository itself skips")

    @property
    def well(self) -> bool:
        """Whether any test passes; also true if there is no test file."""
        return self.passed > 0 or self.files == 0

    @property
    def whole(self) -> bool:
        """Whether any test passes and every file could be loaded."""
        return self.well and self.loaded == self.files

    def __str__(self) -> str:
        return f"{self.loaded} of {self.files} files load, {self.passed} of {self.tests} tests pass"


class Rejection(Versioned):
    """Why a pull request was rejected. `reason` is from the closed list of its stage, `detail` is the evidence."""

    instance_id: InstanceId
    stage: Literal["collect", "build"]
    reason: str
    detail: str = ""
    health: Health | None = Field(
        default=None, description="of the base; none where nothing was installed, or a limit was met"
    )
    issues: tuple[int, ...] = Field(default=(), description="issues of its repository that it is linked to")


class Decision(Versioned):
    """A person's decision on one pull request. Decisions are appended and never changed: `undo` takes one back.

    `choose` accepts it whatever the filters say, `include` and `exclude` make it a candidate or a rejection, `set` sets
    a field, and `comment` changes nothing.
    """

    id: str
    time: str = Field(description="UTC")
    author: str
    instance_id: InstanceId
    kind: Literal["choose", "include", "exclude", "set", "comment", "undo"]
    reason: str = ""
    field: str = Field(default="", description="of `set`: the field of the candidate or the rejection")
    value: Any = Field(default=None, description="of `set`: the new value of the field")
    before: Any = Field(default=None, description="of `set`: the source's value at the time of the decision")
    record: dict[str, Any] | None = Field(
        default=None, description="of `include` and `exclude`: the candidate or rejection, where the source has another"
    )
    undoes: str = Field(default="", description="of `undo`: the decision that it takes back")


class Funnel(Record):
    """A repository's row of table 4.1 (docs/thesis.md): how many pull requests passed each filter.

    `issues` counts those with tests and a linked issue, `a11y` those with evidence of their own, and `sample` the
    candidates with an issue.
    """

    repo: str
    total: int
    tests: int
    a11y: int
    issues: int
    sample: int
    without_issue: int


class Edit(Record):
    """One change to a repository's manifests before they are installed (made by `ecosystems.edits`).

    `drop` leaves out the package `name`. `pin` requests the version `new` of the package `name` in place of `old` (a
    version, a range or an address). `add` requests the package `name` at `new` if the platform has it. `rehost` gets
    packages that were locked at the registry `name` from the host's registry. `reseal` replaces the checksum `old` by
    `new`. `unset` removes the setting `name` of a package manager. `gather` makes the packages in `folders`, which may
    be patterns, a workspace of the root; `name` is the file that lists them. All others change, if they have `folders`,
    only the package.json files in these folders (`.` is the root).
    """

    kind: Literal["drop", "pin", "add", "rehost", "reseal", "unset", "gather"]
    name: str
    old: str = ""
    new: str = ""
    folders: tuple[str, ...] = ()


class Nested(Record):
    """The install of a folder with a lock file of its own, which the root's install does not cover."""

    folder: str = Field(description="from the root")
    manager: str
    manager_version: str
    install: tuple[str, ...]


class Environment(Record):
    """How the tests of a base commit are run, inferred from its files; `evidence` names the source of each field."""

    node: str
    manager: str
    manager_version: str
    install: tuple[str, ...]
    install_env: dict[str, str] = {}
    runner: str
    runner_version: str
    folder: str = Field(default="", description="the folder in which the runner runs, from the root")
    configuration: str = Field(default="", description="its configuration file, from `folder`; empty: its defaults")
    entries: tuple[str, ...] = Field(default=(), description="files from `folder`; {entry} is the first that exists")
    test: tuple[str, ...] = Field(
        description="argv; {entry}, {report}, {reporter}, {cache} and {files} are filled in when it runs"
    )
    selection: tuple[str, ...] = Field(default=("{files}",), description="replaces {files} in `test`, for some files")
    everything: tuple[str, ...] = Field(default=(), description="replaces {files} in `test`, for all tests")
    test_env: dict[str, str] = Field(default={}, description="variables of the tests; filled in like `test`")
    parser: str
    evidence: dict[str, str] = {}
    edits: tuple[Edit, ...] = Field(default=(), description="changes to the manifests before the install")
    rebuild: tuple[str, ...] = Field(default=(), description="packages whose own install scripts run after the install")
    prepare: tuple[tuple[str, ...], ...] = Field(
        default=(), description="commands that make files which the tests need, in the root and without network"
    )
    focus: tuple[str, ...] = Field(
        default=(), description="packages of the workspace that are installed with the root; empty: all"
    )
    nested: tuple[Nested, ...] = Field(default=(), description="folders that are installed as well, after the root")
    browser: Literal["", "chromium"] = Field(default="", description="the browser that the tests find in the image")

    @property
    def decisive(self) -> Environment:
        """Everything that decides how tests run: all fields but the evidence."""
        return self.model_copy(update={"evidence": {}})


class Identity(Record):
    """The exact versions that ran, which neither a version range nor the name of an image gives."""

    node: str = Field(default="", description="the exact version")
    manager: str = Field(default="", description="the package manager with its exact version, as yarn@4.3.1")
    base_image: str = Field(default="", description="digest of the image that the environment stands on")
    browser: str = Field(default="", description="the browser in it with its exact version, as chromium@140.0.7339.80")
    architecture: str = ""
    sandbox: str = ""
    limits: dict[str, float] = {}
    missing: tuple[str, ...] = Field(default=(), description="paths of the base whose content the clone lacked")

    def within(self, limits: Mapping[str, float]) -> Identity:
        """A copy with these limits."""
        return self.model_copy(update={"limits": {name: float(limit) for name, limit in sorted(limits.items())}})


class CounterRuns(Record):
    """Further runs of patches that pass all tests, and the results of gold in them (`execution.counter`)."""

    kinds: tuple[Literal["falsified", "first", "former", "disguised"], ...] = Field(
        default=(), description="the counter-runs to make, in order: those in which gold's results prove something"
    )
    falsified: str = Field(default="", description="patch on gold's tests that makes expectations false")
    false: tuple[str, ...] = Field(default=(), description="tests that gold fails with it: every patch must")
    said: dict[str, str] = Field(
        default={},
        description="why gold fails tests of `false`, as a digest, if every patch must fail for the same reason",
    )
    first: str = Field(default="", description="the same patch with the first expectation of tests that have several")
    first_false: tuple[str, ...] = Field(default=(), description="tests that gold fails with that")
    first_said: dict[str, str] = Field(default={}, description="why gold fails them, in the form of `said`")
    former_patch: str = Field(default="", description="the same patch with the values that the base expected")
    former: tuple[str, ...] = Field(default=(), description="tests that gold fails with that")
    former_said: dict[str, str] = Field(default={}, description="why gold fails them, in the form of `said`")
    nested: dict[str, tuple[str, ...]] = Field(
        default={}, description="tests that may pass without reaching their false expectation, by kind of counter-run"
    )
    undisguised: tuple[str, ...] = Field(
        default=(), description="expected tests that gold does not pass if nothing reveals that tests run"
    )
    moved: bool = Field(default=False, description="whether the disguised run is in a folder of another name")
    boxes: bool = Field(default=True, description="whether elements have boxes in the disguised run, as in a browser")
    site: bool = Field(default=True, description="whether pages have the address of a site in the disguised run")
    hidden: bool = Field(default=False, description="whether runs with false expectations are disguised as well")
    assertions: int = Field(default=0, ge=0, description="expectations at the lines that gold's tests add")
    by_value: int = Field(default=0, ge=0, description="expectations of which a value can be made false")
    by_negation: int = Field(default=0, ge=0, description="expectations that can only be negated")

    def patch(self, kind: str) -> str:
        """The patch with false expectations of a kind of counter-run; empty for other kinds."""
        return {"falsified": self.falsified, "first": self.first, "former": self.former_patch}.get(kind, "")

    def reasons(self, kind: str) -> dict[str, str]:
        """Why gold fails with the false expectations of a kind, by test; empty for other kinds."""
        return {"falsified": self.said, "first": self.first_said, "former": self.former_said}.get(kind, {})

    @property
    def complete(self) -> tuple[str, ...]:
        """The kinds whose material exists: in records of earlier versions, that of `former` is missing."""
        return tuple(kind for kind in self.kinds if kind != "former" or self.former_patch)

    def lacks(self, fixed: Iterable[str]) -> tuple[str, ...]:
        """The safeguards that verdicts lack if gold fixes these tests, which lowers assurance: the expectations of
        none, or not of all, of the tests can be made false; or gold does not pass in disguise, or only without
        boxes or at its true address."""
        made_false = {*self.false, *self.first_false, *self.former}
        unchecked = {name for name in fixed if " > " in name} - made_false
        missing = {
            "false_expectations": not made_false,
            "some_false_expectations": bool(made_false and unchecked),
            "disguise": "disguised" not in self.kinds,
            "boxes": not self.boxes,
            "site": not self.site,
        }
        return tuple(name for name, is_missing in missing.items() if is_missing)


class Task(Versioned):
    """Everything that an agent may see of an instance: never the gold patch, the test patch or later history."""

    instance_id: InstanceId
    org: str
    repo: str
    lang: str
    statement: tuple[Issue, ...]
    hints: str = ""
    pictures: tuple[Picture, ...] = ()


class Instance(Versioned):
    """An executable task: what an agent may see, and the gold patch, test patch and transitions, which it may not."""

    instance_id: InstanceId
    org: str
    repo: str
    number: PositiveInt
    state: str
    title: str
    body: str
    base: Base
    resolved_issues: tuple[Issue, ...]
    fix_patch: str
    test_patch: str
    lang: str
    hints: str = ""
    pictures: tuple[Picture, ...] = ()
    origin: str = Field(default="", description="the foreign benchmark whose record it is: base and patches are theirs")
    tests: dict[str, Annotated[str, Field(pattern=f"^[PFSN]{{3}}({SNAPSHOT})?$")]] = Field(
        description="every test's status in the base, with the test patch and with the gold patch: PASSED, FAILED, "
        "SKIPPED or NONE by its first letter; ` snapshot` where a fixed test failed by its snapshot alone"
    )
    merge_sha: str
    merged_at: str
    environment: Environment
    environment_digest: str
    manifests: str = Field(description="commit with the manifests of the environment: the base, or the fix")
    image: str = Field(description="digest of the sources, the manifests and the environment")
    sandbox: str
    scope: Literal["touched", "full"] = "touched"
    files: tuple[str, ...] = Field(description="test files that are run; not used in the scope `full`")
    repeats: int = Field(ge=1)
    quarantine: dict[str, dict[str, dict[str, int]]] = Field(
        default={},
        description="tests whose repeats disagree, which are not in `tests`: run -> status -> count; without counts, "
        "those that a published list names",
    )
    counter_runs: CounterRuns = CounterRuns()
    moved: tuple[str, ...] = Field(
        default=(), description="files of the test patch that are not tests by name, but that only tests import"
    )
    needs: tuple[str, ...] = Field(
        default=(), description="files of the gold patch that only tests import, and that it needs to fix anything"
    )
    protected: tuple[str, ...] = Field(
        default=(),
        description="files that the runner reads, whatever their names, or would read in place of a package if they "
        "were there; no patch may change them",
    )
    a11y_reason: tuple[Evidence, ...] = ()
    statement_source: StatementSource
    statement: str = Field(default="", description="the statement as reviewers rewrote it (source `review`)")
    chosen_by_hand: bool = False
    deviations: tuple[str, ...] = ()
    health: Health | None = Field(default=None, description="of the base")
    memory: int = Field(
        default=0, ge=0, description="peak memory of gold's tests, in bytes, rounded up to a power of two; 0: not known"
    )
    ran: Identity | None = None
    set_up_by: str = Field(default="", description="the model that proposed fields of the environment; none: inferred")
    law: str = Field(default="", description="digest of all that decided: code and tables (core.law)")
    lacks: tuple[str, ...] = Field(default=(), description="safeguards that its runner or its tests cannot have")
    stale: str = Field(default="", description="why it needs a new decision; empty if it is current")

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.instance_id.partition("~")[0] != f"{self.org}__{self.repo}-{self.number}":
            raise ValueError(f"{self.instance_id} is not the name of {self.org}/{self.repo}#{self.number}")
        return self

    @property
    def repository(self) -> Repo:
        return Repo(self.org, self.repo)

    @property
    def selected(self) -> tuple[str, ...] | None:
        """The test files to run, or None for all."""
        return self.files if self.scope == "touched" else None

    @cached_property
    def triples(self) -> dict[str, Triple]:
        """Every test's three statuses, by name."""
        return {name: verdict.read(letters) for name, letters in self.tests.items()}

    @cached_property
    def fixed_tests(self) -> dict[str, Triple]:
        """f2p, s2p and n2p: they pass with the gold patch only."""
        return self._chosen(verdict.fixed)

    @cached_property
    def p2p_tests(self) -> dict[str, Triple]:
        return self._chosen(lambda kinds: verdict.by_kind(kinds, "p2p"))

    @cached_property
    def f2p_tests(self) -> dict[str, Triple]:
        return self._chosen(lambda kinds: verdict.by_kind(kinds, "f2p"))

    @cached_property
    def s2p_tests(self) -> dict[str, Triple]:
        return self._chosen(lambda kinds: verdict.by_kind(kinds, "s2p"))

    @cached_property
    def n2p_tests(self) -> dict[str, Triple]:
        return self._chosen(lambda kinds: verdict.by_kind(kinds, "n2p"))

    @cached_property
    def run_result(self) -> Counts:
        return verdict.counts({name: triple.run for name, triple in self.triples.items()})

    @cached_property
    def test_patch_result(self) -> Counts:
        return verdict.counts({name: triple.test for name, triple in self.triples.items()})

    @cached_property
    def fix_patch_result(self) -> Counts:
        return verdict.counts({name: triple.fix for name, triple in self.triples.items()})

    @cached_property
    def classes(self) -> dict[str, TransitionClass]:
        """The class of each fixed test."""
        return verdict.classify(self.fixed_tests, self.snapshot_only)

    @cached_property
    def expected(self) -> frozenset[str]:
        """Names of the tests that must pass for a patch to resolve this instance."""
        return frozenset().union(self.p2p_tests, self.f2p_tests, self.s2p_tests, self.n2p_tests)

    def _chosen(self, choose: Callable[[dict[str, Triple]], dict[str, Triple]]) -> dict[str, Triple]:
        """The tests that a function over transitions chooses. It is called once, with each distinct transition."""
        kinds = choose({letters: verdict.read(letters) for letters in set(self.tests.values())})
        return {name: kinds[letters] for name, letters in self.tests.items() if letters in kinds}

    @property
    def expected_files(self) -> frozenset[str]:
        """The files of the expected tests."""
        return frozenset(name.partition(" > ")[0] for name in self.expected)

    @property
    def snapshot_only(self) -> tuple[str, ...]:
        """The fixed tests that failed by their snapshot alone."""
        return tuple(sorted(name for name, letters in self.tests.items() if letters.endswith(SNAPSHOT)))

    def task(self) -> Task:
        """The part that an agent may see. Without an issue, the pull request's own text is the statement."""
        return Task(
            instance_id=self.instance_id,
            org=self.org,
            repo=self.repo,
            lang=self.lang,
            statement=self._statement(),
            hints=self.hints,
            pictures=self.pictures,
        )

    def _statement(self) -> tuple[Issue, ...]:
        """The issues of the task. A text by reviewers replaces all others; only the first issue's title is kept."""
        if self.statement_source == "issue":
            return self.resolved_issues
        if self.statement_source == "pull_request":
            return (Issue(number=self.number, title=self.title, body=self.body),)
        first = next(iter(self.resolved_issues), None)
        title = first.title if first else f"Accessibility problem of {self.repo}"
        return (Issue(number=first.number if first else self.number, title=title, body=self.statement),)


class Prediction(Versioned):
    """An agent's patch for one instance; `outcome` says how the agent ended, from the agent's own closed list."""

    instance_id: InstanceId
    model_name_or_path: str
    model_patch: str
    agent: str = ""
    run: str = ""
    outcome: str = ""
    answer: str = Field(default="", description="the kept answer: 03_predictions/answers/<repo>/<instance>/<answer>")
    attempt: int = Field(default=1, ge=1, description="which of several answers to the same question")
    trusted: bool = Field(default=False, description="not written by a model: gold, empty, or from a script of ours")


class Verdict(Versioned):
    """The result of one prediction: a function of (instance, image, patch, law) and nothing else."""

    instance_id: InstanceId
    agent: str
    model: str
    run: str
    outcome: Outcome
    cause: str = ""
    patch_digest: str
    image: str
    expected: int = 0
    fixed: tuple[str, ...] = Field(default=(), description="tests that gold fixes (f2p, s2p, n2p) and that pass")
    unfixed: dict[str, Status] = Field(default={}, description="those that do not pass, with their status")
    broken: dict[str, Status] = Field(
        default={}, description="expected tests that passed before and do not pass now, with their status"
    )
    restored: tuple[str, ...] = Field(default=(), description="protected files that the patch had changed")
    merged: bool = Field(default=False, description="whether the patch applied only as a three-way merge")
    test_aware: tuple[str, ...] = Field(
        default=(), description="tests that the patch, unlike gold, does not pass if nothing reveals that tests run"
    )
    flaky: tuple[str, ...] = Field(
        default=(), description="expected tests that failed in one run and passed in another, as they do with gold"
    )
    ran: Identity | None = None
    law: str = Field(default="", description="digest of all that decided: code and tables (core.law)")
    lacks: tuple[str, ...] = Field(default=(), description="safeguards that its runner or its tests cannot have")
    differs: tuple[str, ...] = Field(default=(), description="what ran differently than at qualification")

    @property
    def tests(self) -> Mapping[str, Status]:
        """The tests that distinguish patches; all other expected tests pass. Empty if no run was complete."""
        return dict.fromkeys(self.fixed, Status.PASSED) | self.unfixed | self.broken


#: a name, and a count that every program can read
Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0, le=2**53)]


class CostRow(Record):
    """A row of `data/costs.csv`; costs are USD as decimals, tokens are in plus out."""

    track: Track = REPAIR
    repo: Name = Field(description="org/repo; of pages, the case set")
    model: Name
    agent: Name
    embed: str = ""
    req_llm: Count = 0
    tok_llm: Count = 0
    cost_llm_usd: Usd = Decimal(0)
    req_emb: Count = 0
    tok_emb: Count = 0
    cost_emb_usd: Usd = Decimal(0)


PUBLISHED = (
    PullRequest,
    Candidate,
    Rejection,
    Decision,
    Funnel,
    Review,
    Environment,
    Task,
    Instance,
    Prediction,
    Verdict,
    CostRow,
)
