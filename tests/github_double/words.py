"""The words of generated repositories. Neutral ones match no pattern of the project; the others match at least one."""

from __future__ import annotations

COMPONENTS = (
    "Button",
    "Card",
    "Chart",
    "Drawer",
    "Footer",
    "Grid",
    "Header",
    "List",
    "Menu",
    "Select",
    "Table",
    "Video",
)
TITLES = (
    "Refactor the spacing of {}",
    "Move {} to the new theme",
    "Update the documentation of {}",
    "Speed up the first paint of {}",
    "Rename the size property of {}",
    "Drop the old default of {}",
    "Let {} take a custom renderer",
    "Show a skeleton while {} is loading",
)
SENTENCES = (
    "The previous value came from a time when the theme had only three sizes and nobody noticed the difference.",
    "I kept the old name as an alias, so nothing breaks for people who already use it.",
    "This is the second part of the work that we talked about in the last meeting.",
    "There is a screenshot below, before and after, in both themes.",
    "The bundle does not grow by this, I measured it with the usual script.",
    "Naïve users of the component see no change – only the internals move. ✅",
    "Please have a look at the naming, I am not quite happy with it yet.",
    "The story shows all variants next to each other.",
)
TEMPLATE = (
    "#### What does this pull request do?\r\n\r\n{}\r\n\r\n"
    "<!-- Tell us what changed and why. Keep it short. -->\r\n\r\n"
    "- [x] I have read the guide for contributors\r\n- [ ] The change log has an entry\r\n\r\n{}"
)
EVIDENT_TITLES = (
    "Improve accessibility of {}",
    "{}: missing aria label",
    "Add keyboard navigation to {}",
    "a11y of {}",
)
EVIDENT_SENTENCES = (
    "With this there is screen reader support for the whole list.",
    "The keyboard trap is gone.",
    "It brings us closer to WCAG compliance.",
)
EVIDENT_LABELS = ("a11y", "accessibility", "type: a11y", "screen-reader")
LABELS = ("bug", "enhancement", "documentation", "good first issue", "dependencies")
CLOSING = (
    "Fixes #{number}",
    "closes #{number}",
    "Resolves {name}#{number}",
    "Fixes https://github.com/{name}/issues/{number}",
)
