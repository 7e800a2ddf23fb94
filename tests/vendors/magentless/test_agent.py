"""The agent as a process: `python -m magentless` against a scripted model on loopback."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pipeline.core.llm.scripted import Answer, Fault, ScriptedModel

from .conftest import FILES, edit, git

NAMED = Answer(("Step: localize",), "```\nsrc/IconButton.tsx\n```")
FIX = edit("src/IconButton.tsx", "    <img src={icon.url} />", "    <img src={icon.url} alt={label} />")


def digest_of(root: Path) -> str:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()


def repairing(reply: str) -> ScriptedModel:
    return ScriptedModel([NAMED, Answer(("Step: repair",), reply)])


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
    assert (done.metadata["outcome"], done.metadata["requests"]) == ("SUCCESSFUL_PATCH", 2)
    assert [entry["step"] for entry in done.trajectory] == ["localize", "repair"]
    assert done.trajectory[1]["usage"]["completion_tokens"] > 0


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
def test_a_localisation_without_files_is_an_end_and_no_crash(make_checkout, run_agent, reply, outcome):
    """In MagentLess a failed retrieval crashes a later step."""
    with ScriptedModel([Answer(("Step: localize",), reply)]) as model:
        done = run_agent(make_checkout(FILES), model.url)
    assert (done.code, done.patch, done.metadata["outcome"]) == (0, b"", outcome)


def test_a_context_without_room_is_an_outcome(make_checkout, run_agent):
    toml = "[samples]\nsets = 1\nper_set = 1\n[context]\ndefault = 2100\n"
    with ScriptedModel([]) as model:
        done = run_agent(make_checkout(FILES), model.url, toml=toml)
    assert (done.code, done.metadata["outcome"], model.requests) == (0, "CONTEXT_OVERFLOW", [])


@pytest.mark.trap("model-name-replaced")
def test_the_model_is_the_one_of_the_command_line(make_checkout, run_agent):
    """MagentLess replaces the model's name from an environment variable: spend is booked on the wrong experiment."""
    with repairing(FIX) as model:
        run_agent(make_checkout(FILES), model.url, OPENAI_MODEL="other", MODEL="other", MODEL_NAME="other")
    assert {request.body["model"] for request in model.requests} == {"scripted"}


def test_one_request_of_each_step_is_greedy(make_checkout, run_agent):
    with repairing(FIX) as model:
        done = run_agent(make_checkout(FILES), model.url, toml="[samples]\nsets = 2\nper_set = 2\n")
    assert [request.body["temperature"] for request in model.requests] == [0.0, 0.0, 0.8, 0.8, 0.8, 0.8]
    assert [request.body["max_tokens"] for request in model.requests] == [2000, 12000, 12000, 2000, 12000, 12000]
    assert done.metadata["votes"] == [[0, 1, 2, 3]]


@pytest.mark.invariant(4)
@pytest.mark.parametrize(("status", "cause"), [(500, "provider_error"), (401, "authentication"), (429, "rate_limited")])
def test_a_broken_provider_is_not_an_empty_patch(make_checkout, run_agent, status, cause):
    """An infrastructure fault is never a model failure: exit code 75, and error.json alone."""
    with repairing(FIX) as model:
        model.fail(Fault(), Fault(status=status), Fault(status=status))
        done = run_agent(make_checkout(FILES), model.url)
    assert done.code == 75
    assert [path.name for path in done.out.iterdir()] == ["error.json"]
    assert done.error["cause"] == cause


def test_the_provider_is_asked_again_after_the_time_it_names(make_checkout, run_agent):
    with repairing(FIX) as model:
        model.fail(Fault(status=429, retry_after=1))
        done = run_agent(make_checkout(FILES), model.url)
    assert (done.code, len(model.requests)) == (0, 3)


def test_a_result_replaces_the_error_of_an_earlier_run(make_checkout, run_agent):
    root = make_checkout(FILES)
    with repairing(FIX) as model:
        model.fail(Fault(status=500), Fault(status=500))
        assert run_agent(root, model.url).code == 75
        done = run_agent(root, model.url)
    assert sorted(path.name for path in done.out.iterdir()) == ["metadata.json", "patch.diff", "trajectory.jsonl"]


@pytest.mark.invariant(6)
def test_no_output_holds_the_key(make_checkout, run_agent):
    """No secret is written to data or a log."""
    root = make_checkout(FILES)
    with repairing(FIX) as model:
        done = run_agent(root, model.url)
        assert model.requests[0].authorization.endswith("sk-secret-1")
    written = b"".join(path.read_bytes() for path in done.out.iterdir())
    assert b"sk-secret-1" not in written + done.stderr.encode()


@pytest.mark.invariant(1)
def test_no_prompt_leads_to_the_published_fix(make_checkout, run_agent):
    """The instance's id ends in the number of the pull request: no prompt shows it."""
    with repairing(FIX) as model:
        run_agent(make_checkout(FILES), model.url)
    assert model.requests
    assert not any("12345" in str(request.body) for request in model.requests)
