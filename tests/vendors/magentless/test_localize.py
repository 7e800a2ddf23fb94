"""Which files are found: by the model, by retrieval, or by both."""

from __future__ import annotations

import pytest
from magentless.causes import Cause, Ended, Fault, ProviderFailure
from magentless.localize import localize

FILES, FOLDERS = "```\nsrc/theme.css\n```", "```\nsrc/unrelated\n```"


def answers(files: str = FILES, folders: str = FOLDERS):
    return lambda step, prompt: {"files": files, "folders": folders}[step]


@pytest.fixture
def found(make_checkout, make_session):
    """Runs the step on four files; retrieval returns the offered files in reverse order."""
    from magentless.checkout import Checkout

    paths = ("src/Menu.tsx", "src/theme.css", "src/unrelated/a.ts", "src/useId.ts")
    checkout = Checkout(make_checkout(dict.fromkeys(paths, "x\n")))

    def run(answer, nearest=lambda paths: sorted(paths, reverse=True)):
        return localize(make_session(checkout, answer), nearest)

    return run


def test_suspicious_files_come_first_then_retrieved_ones(found):
    result = found(answers())
    assert result.files == ["src/theme.css", "src/useId.ts", "src/Menu.tsx"]
    assert (result.suspicious, result.irrelevant) == (["src/theme.css"], ["src/unrelated"])
    assert result.notes == []


def test_files_named_by_model_and_retrieval_come_first(found):
    result = found(answers(files="```\nsrc/theme.css\nsrc/Menu.tsx\n```"), nearest=lambda paths: ["src/Menu.tsx"])
    assert result.files == ["src/Menu.tsx", "src/theme.css"]


def test_the_model_names_a_few_files_and_retrieval_the_rest(make_checkout, make_session):
    from magentless.checkout import Checkout

    paths = [f"src/{number}.ts" for number in range(9)]
    session = make_session(Checkout(make_checkout(dict.fromkeys(paths, "x\n"))), answers(files="\n".join(paths)))
    assert localize(session, None).files == paths[: session.settings.files.suspicious] == paths[:5]
    assert localize(session, lambda among: paths[7:]).files == [*paths[:5], *paths[7:]]


def test_folders_in_place_of_files_mean_their_files(found):
    """A small model may name folders instead of files."""
    assert found(answers(files="```\nsrc/unrelated/\nsrc/nothing/\n```"), nearest=None).files == ["src/unrelated/a.ts"]


def test_folders_are_requested_only_for_retrieval(found):
    assert found(answers(folders=""), nearest=None).files == ["src/theme.css"]


def test_retrieval_finds_files_if_the_model_names_none(found):
    result = found(answers(files="I can not tell."))
    assert result.files == ["src/useId.ts", "src/theme.css", "src/Menu.tsx"]
    assert result.notes[0]["cause"] == Cause.NO_LOCALISATION


def test_no_folder_is_left_out_if_all_would_be(found):
    assert found(answers(folders="src")).irrelevant == []


@pytest.mark.parametrize(
    ("reply", "cause"), [("None.", Cause.NO_LOCALISATION), ("src/Imagined.tsx", Cause.HALLUCINATED_FILE)]
)
def test_a_localisation_without_any_file_ends_with_its_cause(found, reply, cause):
    with pytest.raises(Ended) as end:
        found(answers(files=reply), nearest=lambda paths: [])
    assert end.value.cause == cause


@pytest.mark.trap("retrieval-error-swallowed")
def test_a_failed_retrieval_is_raised(found):
    """MagentLess swallows an error of retrieval, and a later step crashes because its result is missing."""

    def broken(paths):
        raise ProviderFailure(Fault.UNREACHABLE, "nobody there")

    with pytest.raises(ProviderFailure, match="nobody there"):
        found(answers(), nearest=broken)
