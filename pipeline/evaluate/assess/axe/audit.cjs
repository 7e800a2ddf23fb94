// Audits documents with axe-core in jsdom: `node audit.cjs FOLDER JSDOM`. Reads `axe.js`, `page.js` (the audit as a
// function) and `documents.jsonl` (a {test, html} per line) in FOLDER; writes `result.json`, a list of {rule, criteria,
// element, tests}. The documents' scripts do not run, and nothing is loaded. Rules about what jsdom cannot see (colors,
// sizes, scrolling) are left out.
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

// Remove rules without an effect, since jsdom tries every rule whenever it computes an element's style: rules that
// match no element, and rules that are repeated further down.
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
