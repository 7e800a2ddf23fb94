"use strict";
// axe-core in the isolated world of every frame of a page, which the page's scripts cannot reach; closed shadow roots
// are open to that world. Rules about whole pages apply to the page and not to its frames.
const MOST = { nodes: 50, html: 300 };
const OF_PAGES = ["document-title", "html-has-lang"];

// A script for the isolated world of each new document: axe-core is loaded at its first use, with its functions available
// to the case, unless an audit comes first.
const lazily = (source) => `Object.defineProperty(globalThis, "axe", { configurable: true, get() {
  delete globalThis.axe;
  (function () { ${source} }).call(globalThis);
  if (!globalThis.auditing) globalThis.axe.setup();
  return globalThis.axe;
} });`;

// Loads axe-core if that script did not run.
const injectAxe = async (frame, source) => {
  const there = () => Object.prototype.hasOwnProperty.call(globalThis, "axe");
  if (!(await frame.evaluate(there))) await frame.evaluate(`${source};undefined`);
};

const RUN = async ({ top, ofPages, most }) => {
  globalThis.auditing = true;
  const { axe } = globalThis;
  const rules = {};
  if (!top) axe._audit.rules.filter((one) => one.pageLevel || ofPages.includes(one.id)).forEach((one) => (rules[one.id] = { enabled: false }));
  const was = Boolean(axe._tree);
  if (was) axe.teardown();
  const found = await axe.run(document, { resultTypes: ["violations"], iframes: false, preload: false, rules });
  if (was) axe.setup();
  globalThis.auditing = false;
  const node = ({ html, target }) => ({ html: html.slice(0, most.html), target: target.map((one) => String(one).slice(0, most.html)) });
  return found.violations.map(({ id, impact, description, help, helpUrl, tags, nodes }) => {
    return { id, impact: impact || "", description, help, helpUrl, tags, count: nodes.length, nodes: nodes.slice(0, most.nodes).map(node) };
  });
};

// From now on the world records whether its document was changed. It cannot see inside frames and shadow roots.
const WATCH = () => {
  const touched = () => (globalThis.touched = true);
  const all = { subtree: true, childList: true, attributes: true, characterData: true };
  new MutationObserver(touched).observe(document, all);
  for (const kind of ["focusin", "focusout", "input", "change", "toggle", "scroll"]) document.addEventListener(kind, touched, true);
  globalThis.touched = Boolean([...document.querySelectorAll("*")].some((one) => one.shadowRoot));
};

// Whether a page is unchanged since its first audit.
const isUntouched = async (page) =>
  page.frames().length === 1 && (await page.evaluate(() => globalThis.touched === false).catch(() => false));

// A host's closed shadow root is visible to the isolated world only.
const openRoots = async (page, devtools) => {
  const { root } = await devtools.send("DOM.getDocument", { depth: -1, pierce: true });
  const closed = [];
  const walk = [root];
  while (walk.length) {
    const node = walk.pop();
    for (const shadow of node.shadowRoots || []) {
      if (shadow.shadowRootType === "closed") closed.push([node.backendNodeId, shadow.backendNodeId]);
      if (shadow.shadowRootType !== "user-agent") walk.push(shadow);
    }
    walk.push(...(node.children || []));
  }
  if (!closed.length) return;
  const world = await page._connection.toImpl(page).mainFrame().context("utility");
  const executionContextId = world.delegate._contextId;
  for (const pair of closed) {
    const [host, shadow] = await Promise.all(
      pair.map(async (backendNodeId) => (await devtools.send("DOM.resolveNode", { backendNodeId, executionContextId })).object.objectId),
    );
    await devtools.send("Runtime.callFunctionOn", {
      objectId: host,
      functionDeclaration: `function (root) { (globalThis.kept ||= []).push(this);
        Object.defineProperty(this, "shadowRoot", { value: root, configurable: true }); }`,
      arguments: [{ objectId: shadow }],
    });
  }
};

const AGAIN = /Execution context was destroyed|navigation|Cannot find context/;
const TRIES = 3;

const audited = async ({ page, devtools }, source) => {
  const violations = [];
  await openRoots(page, devtools);
  for (const [place, frame] of page.frames().entries()) {
    if (frame.url().startsWith("chrome-error:")) continue;
    await injectAxe(frame, source);
    const found = await frame.evaluate(RUN, { top: place === 0, ofPages: OF_PAGES, most: MOST });
    violations.push(...found.map((one) => ({ ...one, frame: place })));
    if (place === 0) await frame.evaluate(WATCH);
  }
  return violations;
};

// {violations}, or {broken} with the reason if the audit failed. Violations have the number of their frame; 0 is the page
// itself. A page that is navigating is audited again.
const audit = async (watched, source) => {
  for (let tries = 1; ; tries++) {
    try {
      return { violations: await audited(watched, source) };
    } catch (error) {
      if (tries === TRIES || !AGAIN.test(error.message)) return { broken: error.message };
      await watched.page.waitForLoadState("load").catch(() => {});
    }
  }
};

module.exports = { audit, isUntouched, lazily };
