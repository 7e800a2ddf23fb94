// Writes the snapshots of all components: plain and with styles as DOM elements, one scene by react-test-renderer, and
// as a string of HTML. `npm install && npm run snapshots` makes `__snapshots__` again.
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

const { createElement, act } = require("react");
const { createRoot } = require("react-dom/client");
const { renderToStaticMarkup } = require("react-dom/server.node");
const renderer = require("react-test-renderer");
const styled = require("styled-components").default;
require("jest-styled-components");

const { SCENES, COMPONENTS } = require("./components");

const DRESSED = Object.fromEntries(
  ["div", "button", "input", "label", "span", "p"].map((tag) => [
    tag,
    styled[tag]`
      padding: 4px;
      &:focus {
        outline: 2px solid;
      }
      @media (max-width: 600px) {
        padding: 0;
      }
    `,
  ]),
);
const plain = (tag, props, ...children) => createElement(tag, { className: `ui-${tag}`, ...props }, ...children);
const dressed = (tag, props, ...children) => createElement(DRESSED[tag] ?? tag, props, ...children);

const rendered = (element) => {
  const container = document.createElement("div");
  act(() => createRoot(container).render(element));
  return container.firstChild;
};

describe.each(Object.entries(COMPONENTS))("%s", (_name, component) => {
  test.each(SCENES.map((scene) => [scene.thing, scene]))("plain, %s", (_thing, scene) => {
    expect(rendered(component(plain, scene))).toMatchSnapshot();
  });
  test.each(SCENES.map((scene) => [scene.thing, scene]))("with styles, %s", (_thing, scene) => {
    expect(rendered(component(dressed, scene))).toMatchSnapshot();
  });
});

describe.each(Object.entries(COMPONENTS))("other forms of %s", (_name, component) => {
  test("react-test-renderer", () => {
    let tree;
    act(() => {
      tree = renderer.create(component(plain, SCENES[0]));
    });
    expect(tree.toJSON()).toMatchSnapshot();
  });
  test("a string of HTML", () => {
    expect(renderToStaticMarkup(component(plain, SCENES[0]))).toMatchSnapshot();
  });
});
