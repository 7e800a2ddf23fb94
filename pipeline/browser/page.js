// Shows one snapshot in an empty page: exactly its elements, whatever HTML's parser would make of such a nesting.
// Marks each tab stop with its place in the order of the Tab key.
({ styles, nodes }) => {
  const FOCUSABLE =
    "a[href], area[href], button, input, select, textarea, summary, iframe, [tabindex], [contenteditable], [controls]";
  const SVG = "http://www.w3.org/2000/svg";

  const text = (node) => document.createTextNode(node);
  const html = (node) => {
    const template = document.createElement("template");
    template.innerHTML = node.html;
    return template.content;
  };
  const element = ([tag, attributes, children], outer) => {
    const svg = tag === "svg" || (outer === SVG && tag !== "foreignObject");
    const made = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      try {
        made.setAttribute(name, value);
      } catch {
        // a name that only a framework knows
      }
    }
    made.append(...children.map((child) => build(child, made.namespaceURI)));
    return made;
  };
  const build = (node, outer) =>
    typeof node === "string" ? text(node) : Array.isArray(node) ? element(node, outer) : html(node);

  const sheet = document.createElement("style");
  sheet.textContent = styles;
  document.head.replaceChildren(sheet);
  document.body.replaceChildren(...nodes.map((node) => build(node)));

  const stops = [...document.body.querySelectorAll(FOCUSABLE)].filter(
    (one) =>
      one.tabIndex >= 0 &&
      !one.matches(":disabled, [contenteditable=false], [type=hidden], [inert], [inert] *") &&
      one.checkVisibility({ visibilityProperty: true }),
  );
  const order = (one) => one.tabIndex || Infinity;
  stops.sort((one, other) => (order(one) === order(other) ? 0 : order(one) - order(other)));
  stops.forEach((one, place) => one.setAttribute("data-oracle-stop", place + 1));
};
