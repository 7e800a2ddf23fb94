// Audits what `capture.cjs` kept, with axe-core in the jsdom of the tests: `node audit.cjs AXE RESULT`. Writes RESULT, a
// list of {rule, criteria, element, tests}. An element is told by the roles and names on the way to it, never by a class.
// Left out is what fragments can not have (rules of whole pages) and jsdom can not see (colours, sizes).
const fs = require("fs");
const path = require("path");

const [axeFile, result] = process.argv.slice(2);
const OPTIONS = {
  resultTypes: ["violations"],
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
  rules: { "color-contrast": { enabled: false }, "target-size": { enabled: false }, "scrollable-region-focusable": { enabled: false } },
};

const read = (name) => fs.readFileSync(path.join(__dirname, name), "utf8");

function documents() {
  const found = new Map();
  const files = fs.readdirSync(__dirname).filter((name) => /^captured-\d+\.jsonl$/.test(name));
  for (const line of files.flatMap((name) => read(name).split("\n").filter(Boolean))) {
    const { test, html } = JSON.parse(line);
    found.set(html, [...(found.get(html) ?? []), test]);
  }
  return found;
}

function page() {
  const { JSDOM } = require(read("jsdom.txt"));
  const { window } = new JSDOM('<!doctype html><html lang="en"><title>page</title><body></body></html>', {
    runScripts: "outside-only",
    pretendToBeVisual: true,
  });
  window.eval(fs.readFileSync(axeFile, "utf8"));
  return window;
}

function step(window, one) {
  const role = window.axe.commons.aria.getRole(one, { noPresentational: true });
  const name = window.axe.commons.text.accessibleText(one).trim().replace(/\s+/g, " ");
  return { told: Boolean(role), words: [role ?? one.localName, name && JSON.stringify(name)].filter(Boolean).join(" ") };
}

function way(window, target) {
  const steps = [step(window, target).words];
  for (let one = target.parentElement; one && one !== window.document.body; one = one.parentElement) {
    const { told, words } = step(window, one);
    if (told) steps.unshift(words);
  }
  return steps.join(" > ");
}

async function audited(window, html) {
  window.document.body.innerHTML = html;
  const { violations } = await window.axe.run(window.document.body, OPTIONS);
  window.axe.setup(window.document.body);
  const criteria = (rule) => rule.tags.flatMap((tag) => /^wcag(\d)(\d)(\d+)$/.exec(tag)?.slice(1).join(".") ?? []);
  const rows = violations.flatMap((rule) =>
    rule.nodes.map((node) => {
      const element = window.document.querySelector(node.target[0]);
      return { rule: rule.id, criteria: criteria(rule), element: way(window, element) };
    }),
  );
  window.axe.teardown();
  return rows;
}

async function main() {
  const found = new Map();
  const all = documents();
  const window = all.size ? page() : null;
  for (const [html, tests] of all) {
    for (const row of await audited(window, html)) {
      const key = JSON.stringify([row.rule, row.element]);
      const known = found.get(key) ?? { ...row, tests: [] };
      found.set(key, { ...known, tests: [...new Set([...known.tests, ...tests])] });
    }
  }
  fs.writeFileSync(result, JSON.stringify({ documents: all.size, violations: [...found.values()] }));
}

main();
