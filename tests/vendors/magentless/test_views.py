"""Which parts of a file are shown."""

from __future__ import annotations

from magentless.views import numbered, shown_lines, view

LIMITS = "[files]\nwhole_file_lines = 50\nwindow = 2\nmax_file_lines = {}\n"


def long_file(**words: str) -> list[str]:
    return [words.get(f"line{number}", f"const c{number} = other;") for number in range(100)]


def test_a_file_up_to_the_limit_is_shown_whole(make_settings):
    text = "\n".join(["a"] * 50)
    assert view("src/a.ts", text, [], set(), make_settings(LIMITS.format(20)).files) == f"### src/a.ts\n{text}"


def test_of_a_longer_file_the_beginning_and_the_matching_lines(make_settings):
    text = "\n".join(long_file(line60="const Anchor = 1;"))
    shown = view("src/a.ts", text, [], {"anchor"}, make_settings(LIMITS.format(20)).files).split("\n")
    assert shown[:2] == ["### src/a.ts", "[lines 1-2 of 100]"]
    assert shown[4:] == ["[lines 59-63 of 100]", *text.split("\n")[58:63]]


def test_rare_words_come_first_until_the_most_lines_are_shown(make_settings):
    lines = long_file(line90="rare")
    shown = view("src/a.ts", "\n".join(lines), [], {"other", "rare"}, make_settings(LIMITS.format(7)).files)
    assert [line for line in shown.split("\n") if line.startswith("[")] == [
        "[lines 1-2 of 100]",
        "[lines 89-93 of 100]",
    ]


def test_with_places_a_file_is_shown_as_windows_however_short_it_is(make_settings):
    lines = long_file()[:40]
    assert shown_lines(lines, [(20, 22), (39, 39)], make_settings(LIMITS.format(50)).files) == [
        *(0, 1, *range(17, 24), *range(36, 40))
    ]


def test_code_is_numbered_as_editors_do(make_settings):
    text = "a\nb\nc\n"
    assert numbered("x.ts", text, [(2, 2)], make_settings().files) == "### x.ts\n    2 | b"
    assert numbered("x.ts", text, [], make_settings().files).endswith("    3 | c")
