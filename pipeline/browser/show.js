// Shows exactly these elements in an empty page, even if HTML's parser would nest them differently.
({ styles, nodes }) => {
  const SVG = "http://www.w3.org/2000/svg";

  const text = (node) => document.createTextNode(node);
  const html = (node) => {
    const template = document.createElement("template");
    template.innerHTML = node.html;
    return template.content;
  };
  const element = ([tag, attributes, children], outer) => {
    const svg = tag === "svg" || (outer === SVG && tag !== "foreignObject");
    const created = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      try {
        created.setAttribute(name, value);
      } catch {
        // an invalid name, which only a framework understands
      }
    }
    created.append(...children.map((child) => build(child, created.namespaceURI)));
    return created;
  };
  const body = ([, attributes, children]) => {
    for (const [name, value] of Object.entries(attributes)) document.body.setAttribute(name, value);
    return children.map((child) => build(child));
  };
  const build = (node, outer) =>
    typeof node === "string" ? text(node) : Array.isArray(node) ? element(node, outer) : html(node);

  const sheet = document.createElement("style");
  sheet.textContent = styles;
  document.head.replaceChildren(sheet);
  for (const name of document.body.getAttributeNames()) document.body.removeAttribute(name);
  document.body.replaceChildren(...nodes.flatMap((node) => (node[0] === "body" ? body(node) : build(node))));
}
