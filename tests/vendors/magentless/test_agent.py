"""The agent with its command line, and a scripted model on loopback."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from magentless.agent import Agent
from magentless.causes import Cause, Ended

from pipeline.llm.scripted import Answer, Fault, ScriptedModel

from .conftest import FILES, SINGLE, edit, git

PATH = "```\nsrc/IconButton.tsx\n{}```"
#: every step before the repair; the file is shown as a window around its line 5
STEPS = [
    Answer(("Step: files",), PATH.format("")),
    Answer(("Step: folders",), "```\n```"),
    Answer(("Step: elements",), PATH.format("IconButton\n")),
    Answer(("Step: lines",), PATH.format("line: 5\n")),
]
FIX = edit("src/IconButton.tsx", "    <img src={icon.url} />", "    <img src={icon.url} alt={label} />")


def digest_of(root: Path) -> str:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()


def repairing(reply: str) -> ScriptedModel:
    return ScriptedModel([*STEPS, Answer(("Step: repair",), reply)])


def test_a_fix_ends_as_a_patch_that_git_applies(make_checkout, run_agent):
    root = make_checkout(FILES)
    before = digest_of(root)
    with repairing(FIX) as model:
        done = run_agent(root, model.url)
    assert done.code == 0, done.stderr
    assert digest_of(root) == before, "the agent wrote to the checkout"
    git(root, "apply", "-", stdin=done.patch)
    assert "alt={label}" in (root / "src/IconButton.tsx").read_text()
    ones = dict.fromkeys(("located", "shown", "edited", "matched", "applied", "parses", "selected"), 1)
    assert done.metadata["funnel"] == ones
    assert (done.metadata["outcome"], done.metadata["requests"]) == ("SUCCESSFUL_PATCH", 4)
    assert [entry["step"] for entry in done.trajectory] == ["files", "elements", "lines", "repair"]
    assert done.trajectory[3]["usage"]["completion_tokens"] > 0


@pytest.mark.parametrize(
    ("reply", "outcome", "reached"),
    [
        ("I would add an alt text.", "NO_EDITS", "shown"),
        (edit("src/Missing.tsx", "a", "b"), "HALLUCINATED_FILE", "edited"),
        (edit("src/IconButton.tsx", "<p>", "<q>"), "SEARCH_MISMATCH", "edited"),
        (edit("src/IconButton.tsx", ");", ");\n\n"), "WHITESPACE_ONLY", "matched"),
        (edit("src/IconButton.tsx", "  </button>", "  </div>"), "INVALID_PATCH", "applied"),
    ],
)
def test_an_attempt_without_a_patch_ends_with_its_cause(make_checkout, run_agent, reply, outcome, reached):
    with repairing(reply) as model:
        done = run_agent(make_checkout(FILES), model.url)
    assert (done.code, done.patch) == (0, b"")
    assert done.metadata["outcome"] == outcome
    assert done.metadata["samples"][0]["reached"] == reached


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("I can not tell.", "NO_LOCALISATION"),
        ("```\nsrc/Imagined.tsx\n```", "HALLUCINATED_FILE"),
        ("", "NO_MODEL_RESPONSE"),
    ],
)
def test_a_localisation_without_files_ends_without_a_crash(make_checkout, run_agent, reply, outcome):
    """In MagentLess, a failed retrieval crashes a later step."""
    with ScriptedModel([Answer(("Step: files",), reply)]) as model:
        done = run_agent(make_checkout(FILES), model.url)
    assert (done.code, done.patch, done.metadata["outcome"]) == (0, b"", outcome)


def test_an_unusable_repair_is_requested_again_with_the_reason(make_checkout, run_agent):
    again = Answer(("Step: repair", "src/IconButton.tsx: the searched lines do not occur"), FIX)
    first = Answer(("Step: repair",), edit("src/IconButton.tsx", "<p>", "<q>"))
    with ScriptedModel([*STEPS, again, first]) as model:
        done = run_agent(make_checkout(FILES), model.url, toml=SINGLE.replace("reasks = 0", "reasks = 1"))
    (sample,) = done.metadata["samples"]
    assert (done.metadata["outcome"], len(sample["reasked"])) == ("SUCCESSFUL_PATCH", 1)
    roles = [message["role"] for message in model.requests[-1].body["messages"]]
    assert roles == ["user", "assistant", "user"]


def test_a_cut_answer_is_requested_again_without_an_empty_message(checkout, make_session, make_settings):
    """Some providers refuse an empty message, and the instance would stay unanswered."""
    replies = {row.markers[0].removeprefix("Step: "): row.reply for row in STEPS}

    def answer(step: str, prompt: str) -> str:
        if step == "repair" and "could not be used" not in prompt:
            raise Ended(Cause.CUT_ANSWER, "the answer was cut")
        return replies.get(step, FIX)

    session = make_session(checkout, answer, settings=make_settings(SINGLE.replace("reasks = 0", "reasks = 1")))
    assert Agent(session, None).run().selected is not None
    _, messages = session.model.asked[-1]
    assert [message["content"] for message in messages[1:2]] == ["(nothing)"]


def test_a_repair_is_requested_again_only_once(make_checkout, run_agent):
    with repairing(edit("src/IconButton.tsx", "<p>", "<q>")) as model:
        done = run_agent(make_checkout(FILES), model.url, toml=SINGLE.replace("reasks = 0", "reasks = 1"))
    assert (done.metadata["outcome"], done.metadata["requests"]) == ("SEARCH_MISMATCH", 5)


def test_the_next_task_of_a_repository_pays_only_for_changes(make_checkout, run_agent):
    """The costs of indexing are recorded for several instances, those of the question for one."""
    root, toml = make_checkout(FILES), SINGLE.replace('model = ""', 'model = "embedder"')
    with repairing(FIX) as model:
        first = run_agent(root, model.url, toml=toml, OPENAI_SHARED_API_KEY="sk-shared-1")
        (root / "src/theme.css").write_text(".icon {}\n")
        git(root, "commit", "--quiet", "--all", "--message", "next")
        second = run_agent(root, model.url, toml=toml, OPENAI_SHARED_API_KEY="sk-shared-1")
    assert (first.code, second.code) == (0, 0), first.stderr
    sent = [request for request in model.requests if request.path == "/v1/embeddings"]
    assert [len(request.body["input"]) for request in sent] == [2, 1, 1, 1]
    assert [request.authorization[-8:] for request in sent] == ["shared-1", "secret-1"] * 2
    assert "File: src/theme.css" in sent[2].body["input"][0]
    assert second.metadata["localisation"]["retrieved"]
    assert [entry["step"] for entry in second.trajectory][:4] == ["files", "folders", "index", "retrieve"]


@pytest.mark.invariant(4)
@pytest.mark.trap("retrieval-error-swallowed")
def test_a_retrieval_that_fails_leaves_the_task_unanswered(make_checkout, run_agent):
    """MagentLess swallows an error of retrieval, and a later step crashes because its result is missing."""
    toml = SINGLE.replace('model = ""', 'model = "embedder"').replace("max_retries = 1", "max_retries = 0")
    with repairing(FIX) as model:
        model.fail(Fault(), Fault(), Fault(status=500))
        done = run_agent(make_checkout(FILES), model.url, toml=toml)
    assert (done.code, done.error["cause"]) == (75, "provider_error")
    assert "[retrieval] model" in done.error["message"]


def test_a_context_without_room_is_an_outcome(make_checkout, run_agent):
    toml = SINGLE + "context = {default = 2100}\n"
    with ScriptedModel([]) as model:
        done = run_agent(make_checkout(FILES), model.url, toml=toml)
    assert (done.code, done.metadata["outcome"], model.requests) == (0, "CONTEXT_OVERFLOW", [])


@pytest.mark.trap("model-name-replaced")
def test_the_model_of_the_command_line_is_used(make_checkout, run_agent):
    """MagentLess takes the model's name from an environment variable, so costs are recorded for the wrong
    experiment."""
    with repairing(FIX) as model:
        run_agent(make_checkout(FILES), model.url, OPENAI_MODEL="other", MODEL="other", MODEL_NAME="other")
    assert {request.body["model"] for request in model.requests} == {"scripted"}


def test_the_first_sample_of_its_kind_is_greedy(make_checkout, run_agent):
    with repairing(FIX) as model:
        done = run_agent(make_checkout(FILES), model.url, toml=SINGLE.replace("= 1, per_set = 1", "= 2, per_set = 2"))
    asked = [(entry["step"], entry["sample"], entry["temperature"], entry["max_tokens"]) for entry in done.trajectory]
    assert asked == [
        ("files", 0, 0.0, 2000),
        ("elements", 0, 0.0, 2000),
        *(("lines", number, heat, 2000) for number, heat in enumerate((0.0, 0.8))),
        *(("repair", number, heat, 12000) for number, heat in enumerate((0.0, 0.8, 0.0, 0.8))),
    ]
    assert done.metadata["votes"] == [[0, 1, 2, 3]]


@pytest.mark.invariant(4)
@pytest.mark.parametrize(("status", "cause"), [(500, "provider_error"), (401, "provider_error"), (429, "rate_limited")])
def test_a_broken_provider_is_not_an_empty_patch(make_checkout, run_agent, status, cause):
    """An infrastructure fault is never a model's failure: exit code 75, and error.json as the only file."""
    with repairing(FIX) as model:
        model.fail(Fault(), Fault(), Fault(status=status), Fault(status=status))
        done = run_agent(make_checkout(FILES), model.url)
    assert done.code == 75
    assert [path.name for path in done.out.iterdir()] == ["error.json"]
    assert done.error["cause"] == cause


def test_the_provider_is_asked_again_after_the_requested_time(make_checkout, run_agent):
    with repairing(FIX) as model:
        model.fail(Fault(status=429, retry_after=1))
        done = run_agent(make_checkout(FILES), model.url)
    assert (done.code, len(model.requests)) == (0, 5)


def test_a_result_replaces_the_error_of_an_earlier_run(make_checkout, run_agent):
    root = make_checkout(FILES)
    with repairing(FIX) as model:
        model.fail(Fault(status=500), Fault(status=500))
        assert run_agent(root, model.url).code == 75
        done = run_agent(root, model.url)
    names = ["metadata.json", "patch.diff", "proposals", "trajectory.jsonl"]
    assert sorted(path.name for path in done.out.iterdir()) == names


@pytest.mark.invariant(6)
def test_no_output_contains_the_key(make_checkout, run_agent):
    """No secret is written to data or a log."""
    root = make_checkout(FILES)
    with repairing(FIX) as model:
        done = run_agent(root, model.url)
        assert model.requests[0].authorization.endswith("sk-secret-1")
    written = b"".join(path.read_bytes() for path in done.out.rglob("*") if path.is_file())
    assert b"sk-secret-1" not in written + done.stderr.encode()


@pytest.mark.invariant(1)
def test_no_prompt_contains_the_number_of_the_pull_request(make_checkout, run_agent):
    """The instance's id ends in the number of the pull request, so no prompt contains it."""
    with repairing(FIX) as model:
        run_agent(make_checkout(FILES), model.url)
    assert model.requests
    assert not any("12345" in str(request.body) for request in model.requests)
