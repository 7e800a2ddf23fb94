// Audits documents with axe-core in a jsdom: `node audit.cjs FOLDER JSDOM`. Reads in FOLDER `axe.js`, `page.js` (what
// is audited, and how) and `documents.jsonl`, a {test, html} a line; writes `result.json`, a list of {rule, criteria,
// element, tests}. No script of the documents runs, and nothing is loaded.
// Left out is what jsdom can not see: colors, sizes, and what scrolls.
const fs = require("fs");
const path = require("path");

const [folder, dom] = process.argv.slice(2);
const UNSEEN = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"];
const PAGE = '<!doctype html><html lang="en"><head><title>page</title></head><body></body></html>';

const read = (name) => fs.readFileSync(path.join(folder, name), "utf8");

function documents() {
  const found = new Map();
  read("documents.jsonl").split("\n").filter(Boolean).forEach((line) => {
    const { test, html } = JSON.parse(line);
    found.set(html, (found.get(html) || []).concat(test));
  });
  return found;
}

function page() {
  const { JSDOM, VirtualConsole } = require(dom);
  const quiet = { runScripts: "outside-only", pretendToBeVisual: true, virtualConsole: new VirtualConsole() };
  const { window } = new JSDOM(PAGE, quiet);
  window.eval(read("axe.js"));
  return window;
}

// jsdom tries every rule at every question for an element's style. Those that match no element, or stand once more
// further down, decide nothing.
function prune(document) {
  const later = new Set();
  for (const { cssRules } of [...document.styleSheets].reverse()) {
    for (let place = cssRules.length - 1; place >= 0; place--) {
      const { selectorText, cssText } = cssRules[place];
      if (later.has(cssText) || (selectorText && matchesNothing(document, selectorText))) cssRules.splice(place, 1);
      later.add(cssText);
    }
  }
}

function matchesNothing(document, selector) {
  try {
    return !document.querySelector(selector);
  } catch (_) {
    return false;
  }
}

async function main() {
  const found = new Map();
  const window = page();
  const audit = window.eval(`(${read("page.js")})`);
  for (const [html, tests] of documents()) {
    window.document.body.innerHTML = html;
    prune(window.document);
    for (const row of await audit(UNSEEN)) {
      const key = JSON.stringify([row.rule, row.element]);
      const known = found.has(key) ? found.get(key).tests : [];
      found.set(key, Object.assign(row, { tests: known.concat(tests) }));
    }
  }
  fs.writeFileSync(path.join(folder, "result.json"), JSON.stringify([...found.values()]));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
