"""Reading the output of a story build: Storybook's static format, old and new."""

from __future__ import annotations

import io
import json
import tarfile
from typing import Any

import pytest

from pipeline.evaluate.assess.stories.site import NoSite, Story, open_site


def archive(files: dict[str, str | bytes], *links: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as made:
        for name, content in files.items():
            content = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
        for name in links:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            made.addfile(member)
    return data.getvalue()


def story(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "title": "T", "name": name, "importPath": f"./src/{name}.stories.tsx", **more}


def test_index_json_lists_stories_and_not_pages_of_text() -> None:
    """Storybook 7 and later; paths are relative to the folder in which it was built."""
    rows = [story("b", type="story", componentPath="./src/B.tsx"), story("a", type="story"), story("c", type="docs")]
    index = {"v": 5, "entries": {row["id"]: row for row in rows}}
    found = open_site(archive({"iframe.html": "", "index.json": json.dumps(index)}), "packages/ui")
    assert found.stories == (
        Story("a", "packages/ui/src/a.stories.tsx"),
        Story("b", "packages/ui/src/b.stories.tsx", "packages/ui/src/B.tsx"),
    )


def test_stories_json_is_read_if_there_is_no_index() -> None:
    """Storybook 6.4 to 6.5."""
    index = {"v": 3, "stories": {"a": story("a", kind="T", parameters={})}}
    assert open_site(archive({"iframe.html": "", "stories.json": json.dumps(index)}), "").stories == (
        Story("a", "src/a.stories.tsx"),
    )


@pytest.mark.rule("stories-silence")
@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"index.json": "{}"}, "there is no iframe.html"),
        ({"iframe.html": ""}, "there is no index.json and no stories.json"),
        ({"iframe.html": "", "index.json": "{"}, "index.json is not in Storybook's format"),
        ({"iframe.html": "", "index.json": '{"entries": [1]}'}, "index.json is not in Storybook's format"),
        ({"iframe.html": "", "index.json": '{"entries": {"a": {"type": "story"}}}'}, "index.json is not in"),
        ({"iframe.html": "", "index.json": '{"entries": {"a": {"id": "a", "importPath": 3}}}'}, "index.json is not in"),
        ({"iframe.html": "", "index.json": '{"stories": {}}'}, "index.json is not in"),
        ({"iframe.html": "", "index.json": "[" * 5000}, "index.json is not in"),
        ({"iframe.html": "", "stories.json": "null"}, "stories.json is not in"),
    ],
)
def test_an_invalid_site_is_refused_with_the_reason(files: dict[str, str], why: str) -> None:
    with pytest.raises(NoSite, match=why):
        open_site(archive(files), "")


def test_links_lead_nowhere() -> None:
    files = {"iframe.html": "", "index.json": '{"entries": {}}'}
    assert set(open_site(archive(files, "secret"), "").files) == set(files)


def test_an_archive_that_unpacks_to_too_much_is_refused() -> None:
    with pytest.raises(NoSite, match="unpacked it has more than 1000 bytes"):
        open_site(archive({"iframe.html": bytes(2000)}), "", largest=1000)
