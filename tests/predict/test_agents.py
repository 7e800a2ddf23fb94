"""Agents by name: folders of vendors/ with a manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import UserError
from pipeline.core.vendors import VENDORS
from pipeline.predict.agents import PLACEHOLDERS, Agent, Call, agents, load_agent

EXAMPLES = sorted((VENDORS / "command" / "examples").glob("*.toml"))


@pytest.mark.rule("agent-default")
def test_the_agent_of_the_project_is_there() -> None:
    agent = load_agent("magentless")
    assert (agent.folder.name, agent.settings.name) == ("magentless", "settings.toml")
    argv = agent.call.argv(dict.fromkeys(PLACEHOLDERS[agent.runs_code], "here"))
    assert argv[:3] == ["here", "-m", "magentless"] and "{" not in "".join(argv)


@pytest.mark.rule("bad-input")
def test_an_unknown_agent_lists_the_available_ones() -> None:
    with pytest.raises(UserError, match="unknown agent 'nobody'") as error:
        load_agent("nobody")
    assert all(name in str(error.value) for name in (*agents(), "oracle (as the model)", "nop (as the model)"))


@pytest.mark.rule("bad-input")
def test_missing_settings_are_refused_with_their_path(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such settings file") as error:
        load_agent("magentless", tmp_path / "mine.toml")
    assert error.value.path == tmp_path / "mine.toml"


def test_settings_replace_the_agents_own(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    assert load_agent("magentless", tmp_path / "mine.toml").settings == tmp_path / "mine.toml"


@pytest.mark.rule("run-identity")
def test_a_changed_agent_has_another_digest(tmp_path: Path) -> None:
    """Results of different versions are not comparable; compiled files do not count."""
    agent = Agent("fake", tmp_path, tmp_path / "settings.toml", Call())
    (tmp_path / "agent.py").write_text("one")
    before = agent.digest
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "agent.pyc").write_bytes(b"compiled")
    assert agent.digest == before
    (tmp_path / "agent.py").write_text("two")
    assert agent.digest != before


@pytest.mark.rule("run-identity")
def test_a_changed_prompt_is_a_changed_agent(tmp_path: Path) -> None:
    """magentless's prompts are Markdown files: after a change, answers to the old one were found. A README does not
    count."""
    agent = Agent("fake", tmp_path, tmp_path / "settings.toml", Call())
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "files.md").write_text("Which files?")
    before = agent.digest
    (tmp_path / "README.md").write_text("About the agent.")
    assert agent.digest == before
    (tmp_path / "prompts" / "files.md").write_text("Which files have to change?")
    assert agent.digest != before


@pytest.mark.rule("run-identity")
@pytest.mark.parametrize(
    "stray",
    [".agent.toml.swp", ".DS_Store", "agent.py~", "agent.py.orig", "#agent.py#", ".git/HEAD", "__pycache__/made.json"],
)
def test_what_editors_leave_does_not_change_an_agent(tmp_path: Path, stray: str) -> None:
    """All answers were asked for again while somebody looked at the manifest in an editor."""
    agent = Agent("fake", tmp_path / "agent", tmp_path / "settings.toml", Call())
    path = agent.folder / "sources" / stray
    path.parent.mkdir(parents=True)
    (agent.folder / "agent.py").write_text("one")
    before = agent.digest
    path.write_text("stray")
    assert agent.digest == before


@pytest.mark.rule("run-identity")
def test_descriptions_and_examples_do_not_change_an_agent(tmp_path: Path) -> None:
    """A new version number in an example asked for all answers of every command-line agent again."""
    agent = Agent("fake", tmp_path, tmp_path / "settings.toml", Call())
    manifest = 'name = "fake"\nsummary = "one"\nlicence = "MIT"\nsource = "here"\nversion = "1"\n'
    (tmp_path / "agent.toml").write_text(manifest)
    before = agent.digest
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "other.toml").write_text('install = "other==2"')
    (tmp_path / "agent.toml").write_text('name = "fake"\nsummary = "two"\nwrites = ["patch.diff"]\nversion = "1"\n')
    assert agent.digest == before
    (tmp_path / "agent.toml").write_text(manifest.replace('version = "1"', 'version = "2"'))
    assert agent.digest != before


MINE = 'command = ["mine"]\n[environment]\nA = "1"\nB = "2"\n'


@pytest.mark.rule("run-identity")
@pytest.mark.parametrize(
    ("agent", "first", "same"),
    [
        ("magentless", "", "# nothing but defaults"),
        ("magentless", "", "[samples]\nsets = 2\n[files]\ntop = 15\n"),
        ("magentless", "[samples]\ntemperature = 1.0\n", "[samples]\ntemperature = 1\n"),
        ("magentless", "samples = {sets = 3, per_set = 4}\n", "# fewer\n[samples]\nper_set = 4\nsets = 3\n"),
        ("magentless", '[retrieval.model]\n"a*" = "b"\n', '[retrieval.model]\n"local" = "local-embedding"\n"a*" = "b"'),
        ("magentless", "", "[provider]\ntimeout_seconds = 9000\n[retrieval]\nparallel = 1\n"),
        ("command", MINE, 'seconds = 3600\nprompt = "STATEMENT"\n' + MINE),
        ("command", MINE, '# mine\nenvironment = {B = "2", A = "1"}\ncommand = ["mine"]\ninstall = ""\n'),
    ],
)
def test_settings_with_the_same_effect_share_answers(tmp_path: Path, agent: str, first: str, same: str) -> None:
    """After somebody wrote down a default, everything was paid for twice."""
    digests = set()
    for name, text in (("first.toml", first), ("same.toml", same), ("same.conf", same)):
        (tmp_path / name).write_text(text)
        digests.add(load_agent(agent, tmp_path / name).settings_digest)
    assert len(digests) == 1


@pytest.mark.rule("run-identity")
@pytest.mark.parametrize(
    ("agent", "first", "other"),
    [
        ("magentless", "", "[samples]\nsets = 3\n"),
        ("magentless", "", '[retrieval]\nmodel = ""\n'),
        ("magentless", "", '[retrieval.model]\n"a*" = "b"\n'),
        ("command", MINE, "seconds = 3601\n" + MINE),
        ("command", MINE, MINE + 'C = "3"\n'),
    ],
)
def test_settings_with_another_effect_ask_again(tmp_path: Path, agent: str, first: str, other: str) -> None:
    digests = set()
    for name, text in (("first.toml", first), ("other.toml", other)):
        (tmp_path / name).write_text(text)
        digests.add(load_agent(agent, tmp_path / name).settings_digest)
    assert len(digests) == 2


def test_the_agents_own_settings_are_those_of_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    mine, own = load_agent("magentless", tmp_path / "mine.toml"), load_agent("magentless")
    assert mine.settings_digest == own.settings_digest and mine.asks == own.asks


# -- manifests -------------------------------------------------------------------------------------------------------
def test_a_command_line_agent_gets_its_call_from_the_settings(tmp_path: Path) -> None:
    settings = tmp_path / "mine.toml"
    settings.write_text(
        'command = ["mine", "--ask", "{statement}"]\nenvironment = {URL = "{base_url}/x"}\nseconds = 9\n'
    )
    agent = load_agent("command", settings)
    values = {"statement": "a {out}", "base_url": "http://here/v1", "key": "sk"}
    assert agent.runs_code and agent.call.seconds == 9
    assert agent.call.argv(values) == ["mine", "--ask", "a {out}"], "the text of a task is no placeholder"
    assert agent.call.variables(values) == {
        "OPENAI_BASE_URL": "http://here/v1",
        "OPENAI_API_KEY": "sk",
        "URL": "http://here/v1/x",
    }


@pytest.mark.rule("bad-input")
def test_a_command_line_agent_needs_settings() -> None:
    with pytest.raises(UserError, match="the agent 'command' needs settings") as error:
        load_agent("command")
    assert "--settings FILE" in str(error.value)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        ("seconds = 9", "command", "it is missing"),
        ('command = ["a"]\ninstal = "b"', "instal", "Extra inputs"),
        ('command = ["a"]\nseconds = 0', "seconds", "greater than 0"),
        ('command = ["a", "{promt}"]', None, "there is no '{promt}'"),
        ('command = ["{python}"]', None, "there is no '{python}'"),
        ("command =", None, "invalid TOML"),
    ],
)
def test_broken_settings_are_refused_with_their_place(
    tmp_path: Path, text: str, field: str | None, message: str
) -> None:
    settings = tmp_path / "mine.toml"
    settings.write_text(text)
    with pytest.raises(UserError) as error:
        load_agent("command", settings)
    assert message in error.value.message and (error.value.path, error.value.field) == (settings, field)


def test_braces_of_shells_and_programs_are_left_alone() -> None:
    call = Call(command=("sh", "-c", "echo ${HOME} {model} { a; } {A}"))
    assert call.argv({"model": "m"})[2] == "echo ${HOME} m { a; } {A}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_can_be_loaded(path: Path) -> None:
    assert load_agent("command", path).call.command
