"""The elements of files in the languages of user interfaces."""

from __future__ import annotations

import pytest
from magentless.elements import elements

TSX = """\
import React from 'react';
const SIZE = 3;
interface MenuProps { label: string }
export const Menu = forwardRef(({ label }: MenuProps, ref) => {
  const [open, setOpen] = useState(false);
  const onKeyDown = useCallback((event) => {
    setOpen(true);
  }, []);
  function close() {}
  return <ul onKeyDown={onKeyDown}>{label}</ul>;
});
class Old extends React.Component<MenuProps> {
  state = {};
  toggle = () => {};
  render() { return <p />; }
}
export default () => <Menu />;
"""
VUE = """\
<template>
  <div id="menu"><button @click="open">x</button></div>
</template>
<script setup lang="ts">
const open = (event: Event): void => {};
</script>
<style lang="scss">
.menu { .item { color: red; } }
</style>
"""


def names(path: str, text: str) -> list[str]:
    return [element.name for element in elements(path, text)]


@pytest.mark.trap("tsx-invisible")
@pytest.mark.parametrize("path", ["a.tsx", "a.jsx", "a.js", "a.mjs"])
def test_components_handlers_and_methods_are_elements(path):
    """MagentLess reads TypeScript with a grammar that does not know TSX, so components fall apart."""
    assert names(path, TSX) == [
        *("SIZE", "MenuProps", "Menu", "Menu.onKeyDown", "Menu.close"),
        *("Old", "Old.toggle", "Old.render", "default"),
    ]


def test_elements_know_their_lines():
    found = {element.name: (element.start, element.end) for element in elements("a.tsx", TSX)}
    assert (found["Menu"], found["Menu.onKeyDown"]) == ((4, 11), (6, 8))


@pytest.mark.parametrize("path", ["a.css", "a.scss", "a.less"])
def test_rules_are_elements(path):
    text = ".menu, .list {\n  color: red;\n  &:hover { color: blue }\n}\n@media print { .menu { display: none } }\n"
    found = names(path, text)
    assert found[:2] == [".menu, .list", ".menu, .list &:hover"] and found[-1].endswith(".menu")


@pytest.mark.trap("tsx-invisible")
def test_scripts_and_styles_inside_a_page_are_read(path="Menu.vue"):
    """MagentLess does not see Vue and Svelte files."""
    found = {element.name: (element.start, element.end) for element in elements(path, VUE)}
    assert found['<template> <div id="menu">'] == (2, 2)
    assert (found["open"], found[".menu .item"]) == ((5, 5), (8, 8))


def test_svelte_is_read():
    text = "<script>\n  function toggle() {}\n</script>\n{#if open}<button on:click={toggle}>x</button>{/if}\n"
    assert "toggle" in names("Menu.svelte", text)


@pytest.mark.parametrize(("path", "text"), [("a.json", "{}"), ("a.mdx", "# A"), ("a.tsx", ""), ("a.tsx", "<<<>>> }{")])
def test_a_file_without_elements_has_none(path, text):
    assert names(path, text) == []
