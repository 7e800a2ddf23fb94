import subprocess

import pytest

from pipeline.core.errors import InfrastructureError
from pipeline.pages.hybrid import validity

GOOD = (
    '<!DOCTYPE html>\n<html lang="en">\n  <head><title>Herons</title></head>\n  <body><h1>Herons</h1></body>\n</html>\n'
)


@pytest.mark.engine("npm")
def test_a_valid_page_has_the_full_score():
    part = validity.check(GOOD)
    assert (part.score, part.detail["valid"]) == (100, True)


@pytest.mark.engine("npm")
def test_faults_are_reported_by_line():
    part = validity.check(GOOD.replace("<h1>Herons</h1>", "<p><div></div></p><b>"))
    assert part.score < 90
    assert part.feedback[0].message.startswith("Line 4: ")


@pytest.mark.engine("npm")
@pytest.mark.parametrize("length", [1, 2])
def test_a_message_cut_within_a_character_is_reported(length):
    """One of the two messages is cut off in the middle of a character."""
    name = "x" * (200 + length) + "\N{ROCKET}" * 100
    part = validity.check(GOOD.replace("<h1>Herons</h1>", f'<p id="{name}"></p><p id="{name}"></p>'))
    assert "\N{ROCKET}" in part.feedback[0].message
    assert part.model_dump_json()


@pytest.mark.engine("npm")
def test_a_page_can_not_switch_rules_off():
    bad = GOOD.replace("<h1>Herons</h1>", "<p><div></div></p><b>")
    rules = validity.check(bad).detail["rules"]
    for how in ("disable", "disable-block"):
        off = bad.replace("<body>", f"<body><!-- [html-validate-{how} {','.join(rules)}] -->")
        assert validity.check(off).detail["rules"] == rules


def test_without_a_checker_there_is_no_score(monkeypatch):
    def out() -> None:
        raise InfrastructureError("npm is not there", cause="registry")

    monkeypatch.setattr(validity, "installed", out)
    assert validity.check(GOOD).score is None


@pytest.mark.engine("npm")
def test_a_page_that_crashes_the_checker_has_the_score_zero():
    """Such a page scored better: its other parts got the checker's weight."""
    part = validity.check("<!DOCTYPE html>" + "<b>" * 5000)
    assert part.score == 0
    assert "ended with code 1" in part.feedback[0].message


FAULTS = [
    subprocess.TimeoutExpired("node", validity.CHECKING),
    InfrastructureError("html-validate ended with code 134", cause="check"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=["time", "crash"])
@pytest.mark.parametrize(("works", "score"), [(True, 0), (False, None)])
def test_a_correct_page_decides_who_is_to_blame(monkeypatch, fault, works, score):
    def faults(page: str) -> list:
        if page == validity.CONTROL and works:
            return []
        raise fault

    monkeypatch.setattr(validity, "_faults", faults)
    assert validity.check(GOOD).score == score


def test_a_slow_installation_is_not_the_fault_of_the_page(monkeypatch, tmp_path):
    def slow(command, **_):
        raise subprocess.TimeoutExpired(command, validity.INSTALLING)

    monkeypatch.setattr(validity.shutil, "which", lambda _: "npm")
    monkeypatch.setattr(validity.subprocess, "run", slow)
    with pytest.raises(InfrastructureError, match="npm takes longer") as caught:
        validity._install(tmp_path)
    assert caught.value.cause == "registry"


MISSING = [
    ("<!DOCTYPE html>\n", "", ["missing-doctype"], 90),
    ("<title>Herons</title>", "", ["missing-title"], 90),
    ("<title>Herons</title>", "<script>'<title>'</script><!-- <title> -->", ["missing-title"], 90),
    ("<h1>Herons</h1>", "<svg><title>A heron</title></svg>", [], 100),
    ("<title>Herons</title></head>", "</head>", ["missing-title"], 90),
    ("<head><title>Herons</title></head>", "<title>Herons</title>", ["missing-head"], 90),
    ("<!DOCTYPE html>", "<!doctype HTML>", [], 100),
]


@pytest.mark.engine("npm")
@pytest.mark.parametrize(("old", "new", "rules", "score"), MISSING)
def test_a_doctype_and_the_usual_tags_are_demanded(old, new, rules, score):
    """The evaluation guide lists them as the first thing that this part checks."""
    part = validity.check(GOOD.replace(old, new))
    own = [rule for rule in part.detail["rules"] if rule.startswith("missing-")]
    assert (own, "element-required-content" in part.detail["rules"]) == (rules, False)
    assert part.score <= score


@pytest.mark.engine("npm")
def test_a_fragment_lacks_them_all():
    part = validity.check("<p title='<body>'>Herons</p>")
    names = ("doctype", "html", "head", "title", "body")
    assert list(part.detail["rules"]) == [f"missing-{name}" for name in names] and part.score == 50


@pytest.mark.parametrize("answer", ["I can not do that.", "3 < 5", ""])
def test_an_answer_without_elements_has_the_score_zero(answer):
    assert validity.check(answer).score == 0
