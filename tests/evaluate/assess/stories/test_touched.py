"""Which stories show what a patch touches."""

from __future__ import annotations

import pytest

from pipeline.evaluate.assess.stories.site import Story
from pipeline.evaluate.assess.stories.touched import touched

STORIES = [
    Story("alert", "src/components/Alert/Alert.stories.tsx"),
    Story("badge", "src/components/Badge/stories/Simple.stories.js", "src/components/Badge/Badge.js"),
    Story("menu", "stories/menu.stories.tsx"),
]
SOURCES = {
    "src/components/Alert/Alert.stories.tsx": 'import { Alert } from "./Alert";\nimport { all } from "../../index";',
    "src/components/Alert/Alert.tsx": 'import "./Alert.css";\nimport { cx } from "../../utils/cx";',
    "src/components/Alert/Alert.css": "",
    "src/components/Badge/stories/Simple.stories.js": "const { Badge } = require('..');",
    "src/components/Badge/index.js": "export { Badge } from './Badge';",
    "src/components/Badge/Badge.js": 'import { useCount } from "../../hooks/useCount";',
    "src/hooks/useCount.ts": "",
    "src/utils/cx.ts": "",
    "src/index.ts": 'export * from "./hooks/useCount";',
    "src/tokens/index.css": '@import "./colors.css";',
    "src/tokens/colors.css": "",
    ".storybook/preview.ts": 'import "../src/tokens/index.css";',
}


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        pytest.param("src/components/Alert/Alert.stories.tsx", ["alert"], id="the story"),
        pytest.param("src/components/Alert/AlertIcon.tsx", ["alert"], id="in its folder"),
        pytest.param("src/components/Badge/Badge.js", ["badge"], id="the component"),
        pytest.param("src/components/Badge/doc.md", ["badge"], id="in the component's folder"),
        pytest.param("packages/react/menu/src/Root.tsx", ["menu"], id="a folder of its name"),
        pytest.param("src/Menu.tsx", ["menu"], id="a file of its name"),
        pytest.param("src/utils/cx.ts", ["alert"], id="imported by the component"),
        pytest.param("src/hooks/useCount.ts", ["badge"], id="imported, not through everybody's index"),
        pytest.param("src/tokens/colors.css", ["alert", "badge", "menu"], id="imported by the preview"),
        pytest.param("src/server.ts", [], id="none"),
    ],
)
def test_a_path_has_its_stories(path: str, ids: list[str]) -> None:
    assert [story.id for story in touched(STORIES, [path], "", SOURCES)] == ids


def test_several_paths_have_each_story_once() -> None:
    paths = ["src/components/Alert/Alert.tsx", "src/components/Alert/Alert.css", "src/Menu.tsx"]
    assert [story.id for story in touched(STORIES, paths, "", SOURCES)] == ["alert", "menu"]


def test_the_preview_is_where_the_stories_were_built() -> None:
    sources = {"apps/web/.storybook/preview.js": 'import "../theme.css";', "apps/web/theme.css": ""}
    assert len(touched(STORIES, ["apps/web/theme.css"], "apps/web", sources)) == 3
