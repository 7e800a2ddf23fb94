"""What of a file is shown."""

from __future__ import annotations

from magentless.views import view, window_lines

LIMITS = "[files]\nwhole_file_lines = 50\nwindow = 2\nmax_file_lines = {}\n"


def long_file(**words: str) -> list[str]:
    return [words.get(f"line{number}", f"const c{number} = other;") for number in range(100)]


def test_a_file_up_to_the_limit_is_shown_whole(make_settings):
    text = "\n".join(["a"] * 50)
    assert view("src/a.ts", text, set(), make_settings(LIMITS.format(20)).files) == f"### src/a.ts\n{text}"


def test_of_a_longer_file_the_beginning_and_the_matching_lines(make_settings):
    text = "\n".join(long_file(line60="const Anchor = 1;"))
    shown = view("src/a.ts", text, {"anchor"}, make_settings(LIMITS.format(20)).files).split("\n")
    assert shown[:2] == ["### src/a.ts", "[lines 1-2 of 100]"]
    assert shown[4:] == ["[lines 59-63 of 100]", *text.split("\n")[58:63]]


def test_rare_words_come_first_until_the_most_lines_are_shown(make_settings):
    lines = long_file(line90="rare")
    shown = window_lines(lines, {"other", "rare"}, make_settings(LIMITS.format(7)).files)
    assert shown == [0, 1, 88, 89, 90, 91, 92]
