"use strict";
// Prints documents as snapshots and shows them again, in jsdom: `node checker.cjs print FOLDER` and `node checker.cjs
// show FOLDER`. `node checker.cjs rules FOLDER` prints the enabled rules of axe-core. FOLDER has jsdom, pretty-format and
// `documents.json` (name -> HTML). `print` writes `printed.json` (name -> {text, tree}); `show` reads `markup.json` (name
// -> the markup read from the text) and `show.js`, and writes `shown.json`. A tree is [tag, attributes, children], without
// comments, scripts and style sheets.
const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");
const [step, folder] = process.argv.slice(2);
const from = createRequire(path.join(folder, "package.json"));
const { JSDOM } = from("jsdom");
const { format, plugins } = from("pretty-format");

const read = (name) => JSON.parse(fs.readFileSync(path.join(folder, name), "utf8"));
const write = (name, value) => fs.writeFileSync(path.join(folder, name), JSON.stringify(value));
const each = (named, does) => Object.fromEntries(Object.entries(named).map(([name, value]) => [name, does(value)]));

function tree(node) {
  if (node.nodeType === 3) return node.data;
  const attributes = Object.fromEntries([...node.attributes].map(({ name, value }) => [name, value]));
  const children = [...node.childNodes].filter(({ nodeType }) => nodeType === 1 || nodeType === 3).map(tree);
  return [node.localName, attributes, children.filter((child) => child !== "")];
}

function print(html) {
  const { body, documentElement } = new JSDOM(html).window.document;
  documentElement.querySelectorAll("script, style").forEach((element) => element.remove());
  body.normalize();
  return { text: format(body, { plugins: [plugins.DOMElement, plugins.DOMCollection] }), tree: tree(body) };
}

function show(markup) {
  global.document = new JSDOM("<!doctype html>").window.document;
  (0, eval)(fs.readFileSync(path.join(folder, "show.js"), "utf8"))(markup);
  return tree(document.body);
}

function rules(levels) {
  const audit = from(path.join(folder, "axe.js"))._audit;
  return audit.rules.filter(({ enabled, tags }) => enabled && !tags.includes("experimental") && tags.some((tag) => levels.includes(tag))).map(({ id }) => id);
}

if (step === "rules") write("rules.json", each(read("levels.json"), rules));
else if (step === "print") write("printed.json", each(read("documents.json"), print));
else write("shown.json", each(read("markup.json"), show));
