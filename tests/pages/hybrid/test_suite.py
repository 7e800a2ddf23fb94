import json

import pytest

from pipeline.core.errors import UserError
from pipeline.core.store import Store
from pipeline.pages.cases import load_cases
from pipeline.pages.hybrid.suite import Suite, as_cases, expected_of, extract, load_configuration, load_suite
from pipeline.pages.runs import Asked, load_run, open_run

SUITE = """
tests:
  - name: math_test
    prompt: What is 15 * 23?
    expected: 345
  - name: rotating cube
    prompt: Create a rotating 3D cube
"""


def written(tmp_path, text, name="tests.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_suite_becomes_cases(tmp_path):
    as_cases(load_suite(written(tmp_path, SUITE)), tmp_path / "cases")
    math, cube = sorted(load_cases(tmp_path / "cases"), key=lambda case: case.prompt, reverse=True)
    assert (math.prompt, expected_of(math.folder)) == ("What is 15 * 23?", "345")
    assert (cube.prompt, expected_of(cube.folder)) == ("Create a rotating 3D cube", "")
    assert (math.name, cube.name) == ("math_test", "rotating cube")
    assert set(cube.code) == {"test.js"}


@pytest.mark.rule("names")
def test_a_run_knows_the_names_of_a_suite_as_they_are_written(tmp_path):
    names = ["rotating cube", "../a/b", "a__b", "Würfel"]
    as_cases(Suite(tests=[{"name": name, "prompt": f"Make {name}"} for name in names]), tmp_path / "cases")
    store = Store(tmp_path / "data")
    made = open_run(store, "cubes", load_cases(tmp_path / "cases"), Asked(("one",)), {}, "")
    run = load_run(store, made.name)
    assert sorted(run.by_name) == sorted(names)
    assert sorted(name for name, _, _ in run.keys) == sorted(names)
    assert all(path.resolve().is_relative_to(tmp_path) and "name" not in path.parts for path in tmp_path.rglob("*"))
    assert len({run.html(*key).parent for key in run.keys}) == len(names)
    assert all(".." not in run.html(*key).parts for key in run.keys)


def test_a_corrected_text_is_not_compared_in_an_earlier_run(tmp_path):
    """A run keeps a copy of its cases, including the text that was expected at the time."""
    found = []
    for expected in ("345", "The answer is 345", ""):
        suite = Suite(tests=[{"name": "sum", "prompt": "What is 15 * 23?", "expected": expected}])
        folder = tmp_path / f"cases-{len(found)}"
        as_cases(suite, folder)
        run = open_run(Store(tmp_path / "data"), "sums", load_cases(folder), Asked(("one",)), {}, "")
        found.append((run.name, expected_of(load_run(run.store, run.name).by_name["sum"].folder)))
    assert len({name for name, _ in found}) == 3
    assert [expected for _, expected in found] == ["345", "The answer is 345", ""]


@pytest.mark.parametrize("text", ["1.50", "007", "1_000", "yes", "0x1F", "2026-01-01", "12:30", "'345'"])
def test_an_expected_text_is_not_converted(tmp_path, text):
    """YAML reads many of these as numbers, dates or booleans; in an answer they are all text."""
    suite = load_suite(written(tmp_path, f"tests:\n  - {{name: 1, prompt: b, expected: {text}}}"))
    assert (suite.tests[0].name, suite.tests[0].expected) == ("1", text.strip("'"))


@pytest.mark.parametrize("text", ["", "~", "null", '""'])
def test_an_empty_text_expects_nothing(tmp_path, text):
    assert (
        load_suite(written(tmp_path, f"tests:\n  - name: a\n    prompt: b\n    expected: {text}")).tests[0].expected
        == ""
    )


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("tests: []", "tests"),
        ("tests:\n  - name: a", "tests.0.prompt"),
        ("tests:\n  - {name: a, prompt: b, expeced: c}", "tests.0.expeced"),
        ("tests:\n  - {name: a, prompt: b}\n  - {name: a, prompt: c}", "tests"),
        ("tests:\n  - {name: a, prompt: ' '}", "tests.0.prompt"),
        ("tests:\n  - {name: ' ', prompt: b}", "tests.0.name"),
        ("- a", None),
        ("tests: [", None),
        ("tests:\n  - name: a\n    prompt: b\n    prompt: c", "prompt"),
    ],
)
def test_an_invalid_suite_is_refused_with_its_field(tmp_path, text, field):
    path = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        load_suite(path)
    assert (caught.value.path, caught.value.field) == (path, field)


def test_the_documented_configuration_is_read(tmp_path):
    text = "use_llm_judge: false\njudge_model: gpt-4o\nheadless: true\ntimeout: 120\noutput_dir: output\n"
    found = load_configuration(written(tmp_path, text))
    assert (found.use_llm_judge, found.judge_model, found.timeout) == (False, "gpt-4o", 120)
    assert load_configuration(None).timeout is None


def test_ignored_values_of_a_configuration_are_named(tmp_path, capsys):
    load_configuration(written(tmp_path, "headless: true\noutput_dir: output\nsave_results: true\n"))
    assert capsys.readouterr().err == ""
    load_configuration(written(tmp_path, "headless: false\noutput_dir: elsewhere\nsave_results: false\n"))
    lines = capsys.readouterr().err.splitlines()
    names = ("headless", "output_dir", "save_results")
    assert [f"{name} is ignored" in line for name, line in zip(names, lines, strict=True)] == [True] * 3


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("seconds", ["0", "-1", ".inf", ".nan", "1e9"])
def test_an_impossible_timeout_is_refused(tmp_path, seconds):
    with pytest.raises(UserError, match="timeout"):
        load_configuration(written(tmp_path, f"timeout: {seconds}"))


def test_a_configuration_with_a_typing_error_is_refused(tmp_path):
    with pytest.raises(UserError, match="Extra inputs"):
        load_configuration(written(tmp_path, "time_out: 3"))


def test_html_is_extracted_and_other_answers_are_not(tmp_path):
    page = "<!doctype html><html><body>Cube</body></html>"
    rows = [
        {
            "test_name": "cube",
            "model": {"model": "openai/gpt-4o", "max_tokens": 9},
            "response": f"```html\n{page}\n```",
        },
        {"test_name": "math", "model": "openai/gpt-4o", "response": "345"},
    ]
    paths = extract(written(tmp_path, json.dumps(rows), "results.json"), tmp_path / "out")
    assert [path.name for path in paths] == ["cube.html"]
    assert paths[0].read_text(encoding="utf-8") == page


def test_a_result_without_an_answer_is_skipped_and_counted(tmp_path, capsys):
    """One failed request made a whole file useless."""
    rows = [
        {"test_name": "a", "model": "m", "response": None, "status": "error"},
        {"test_name": "a", "model": "m", "response": "<p>2</p>"},
        {"test_name": "b", "model": "m", "status": "error"},
    ]
    paths = extract(written(tmp_path, json.dumps(rows), "results.json"), tmp_path / "out")
    assert [path.name for path in paths] == ["a__s1.html"]
    assert "skipped 2 results without an answer" in capsys.readouterr().err


@pytest.mark.parametrize("answer", ["3 < 5", "a <- b > c", "See <https://w3.org/a> or <me@w3.org>.", "I can not."])
def test_an_angle_makes_no_page(tmp_path, answer):
    rows = [{"test_name": "a", "model": "m", "response": answer}]
    assert extract(written(tmp_path, json.dumps(rows), "results.json"), tmp_path / "out") == []


def test_a_second_result_of_a_test_gets_its_own_file(tmp_path):
    rows = [{"test_name": "cube", "model": "m", "response": text} for text in ("<p>1</p>", "345", "<p>3</p>")]
    paths = extract(written(tmp_path, json.dumps(rows), "results.json"), tmp_path / "out")
    assert {path.name: path.read_text(encoding="utf-8") for path in paths} == {
        "cube.html": "<p>1</p>",
        "cube__s2.html": "<p>3</p>",
    }


def test_a_lone_surrogate_in_an_answer_is_replaced(tmp_path):
    """If a model is cut off in the middle of an emoji, the page is written with a replacement character."""
    rows = [{"test_name": "a", "model": "m", "response": "<html>\ud83d</html>"}]
    (path,) = extract(written(tmp_path, json.dumps(rows), "results.json"), tmp_path / "out")
    assert path.read_text() == "<html>?</html>"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "3",
        "null",
        '["a"]',
        '{"results": 3}',
        '[{"test_name": null, "model": "m", "response": "<p>1</p>"}]',
        '[{"test_name": "", "model": "m", "response": "<p>1</p>"}]',
    ],
)
def test_unreadable_results_are_refused(tmp_path, text):
    with pytest.raises(UserError, match="results.json: not a file of results"):
        extract(written(tmp_path, text, "results.json"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_results_of_another_form_are_refused(tmp_path):
    with pytest.raises(UserError, match="not a file of results"):
        extract(written(tmp_path, '[{"test": 1}]', "results.json"), tmp_path / "out")
