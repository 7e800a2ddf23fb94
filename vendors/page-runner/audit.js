"use strict";
// axe-core in the isolated world of every frame of a page, which the page's scripts cannot reach; closed shadow roots
// are open to that world. Rules about whole pages apply to the page and not to its frames. A picture, film or sound in a
// frame has the frame's name: its document is the browser's, not the page's.
const MOST = { nodes: 50, html: 300 };
const OF_PAGES = ["document-title", "html-has-lang"];
// Rules that throw in a document that is not HTML, such as an SVG picture.
const OF_HTML = ["color-contrast"];
// The elements in the documents that the browser makes.
const MADE = ["img", "video", "video,source"];
// What axe-core finds; of rules that hold or do not apply, it gives one element at most.
const LISTS = ["violations", "passes", "incomplete", "inapplicable"];
// By what axe-core walks elements. In a form, a field of such a name takes the property's place, even in the isolated
// world; in a document it does not.
const WALKED = [
  ...["nodeName", "nodeType", "childNodes", "firstChild", "shadowRoot", "parentNode", "parentElement"],
  ...["assignedSlot", "getRootNode", "ownerDocument", "documentElement"],
];

// The controls whose text must not have exactly the color of its background, which axe-core leaves to people, and what
// shows something in place of a text.
const CONTROLS = [
  ...["a[href]", "button", "summary"],
  ...["button", "checkbox", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio", "switch", "tab"]
    .map((role) => `[role=${role}]`),
].join();
const PICTURES = "img, svg, picture, canvas, video, object, iframe";

// A script for the isolated world of each new document: axe-core is loaded at its first use, with its functions
// available to the case, unless an audit comes first.
const lazily = (source) => `Object.defineProperty(globalThis, "axe", { configurable: true, get() {
  delete globalThis.axe;
  (function () { ${source} }).call(globalThis);
  if (!globalThis.auditing) globalThis.axe.setup();
  return globalThis.axe;
} });`;

// Loads axe-core if that script did not run. The source is sent as it is: Playwright would wrap it in a call.
const injectAxe = async (page, frame, source) => {
  const isLoaded = () => Object.prototype.hasOwnProperty.call(globalThis, "axe");
  if (await frame.evaluate(isLoaded)) return;
  const world = await page._connection.toImpl(frame).context("utility");
  await world.rawEvaluateJSON(`${source};undefined`);
};

// Returns violations (and the other lists), what the document tells the browser to connect to in advance, and why
// axe-core missed a part of the document. In a frame whose sandbox allows no scripts, no timer ever ends, and axe-core
// waits for some.
const RUN = async ({ top, ofPages, ofHtml, made, most, walked, whole, lists, controls, pictures }) => {
  const type = Object.getOwnPropertyDescriptor(Document.prototype, "contentType").get.call(document);
  const isHtml = ["text/html", "application/xhtml+xml"].includes(type);
  const { body } = document;
  const shown = () => [...body.querySelectorAll("*")].map(({ localName }) => localName).join();
  const isMedia = /^(?:image|video|audio)\//.test(type) && body && !body.shadowRoot && !body.textContent;
  const isNothing = !top && !document.documentElement;
  const nothing = { ...Object.fromEntries(lists.map((name) => [name, []])), hints: [] };
  if (isNothing || (isMedia && made.includes(shown()))) return nothing;
  const withShadows = (root) => [root, ...[...root.querySelectorAll("*")].flatMap(shadowsOf)];
  const shadowsOf = (one) => [one, ...(one.shadowRoot instanceof ShadowRoot ? withShadows(one.shadowRoot) : [])];
  const forms = withShadows(document).filter((one) => one instanceof HTMLFormElement);
  const hiding = walked.find((name) => forms.some((one) => Object.hasOwn(one, name)));
  if (hiding) return { broken: `a field with the name ${hiding} hides a form from axe-core` };
  globalThis.auditing = true;
  const { axe, setTimeout } = globalThis;
  if (!top) globalThis.setTimeout = (work) => void Promise.resolve().then(work);
  const rules = {};
  const isLeft = ({ id, pageLevel }) => (!top && (pageLevel || ofPages.includes(id))) || (!isHtml && ofHtml.includes(id));
  const left = axe._audit.rules.filter(isLeft);
  for (const rule of left) rules[rule.id] = { enabled: false };
  const was = Boolean(axe._tree);
  if (was) axe.teardown();
  let found;
  try {
    const resultTypes = ["violations", "incomplete"];
    found = await axe.run(document, { resultTypes, elementRef: true, iframes: false, preload: false, rules });
  } finally {
    if (was) axe.setup();
    if (!top) globalThis.setTimeout = setTimeout;
    globalThis.auditing = false;
  }
  const isError = ({ id }) => id === "error-occurred";
  const threw = found.incomplete.find(({ nodes }) => nodes.some(({ none }) => none.some(isError)));
  if (threw) return { broken: `axe-core's rule ${threw.id} threw` };
  const { closest, querySelector } = Element.prototype;
  const hasNoContent = (one) =>
    ["::before", "::after"].every((part) => ["none", "normal"].includes(getComputedStyle(one, part).content));
  const isPlain = (style) =>
    style.color.startsWith("rgb(") &&
    style.webkitTextFillColor === style.color &&
    style.webkitTextStrokeWidth === "0px" &&
    style.textIndent === "0px";
  const isUnseen = ({ any, element }) => {
    const isEqual = any.some(({ data }) => data && data.messageKey === "equalRatio");
    const control = isEqual && closest.call(element, controls);
    if (!control || querySelector.call(control, pictures)) return false;
    return isPlain(getComputedStyle(element)) && [control, element].every(hasNoContent);
  };
  const contrast = found.incomplete.find(({ id }) => id === "color-contrast");
  const unseen = contrast ? contrast.nodes.filter(isUnseen) : [];
  if (unseen.length) {
    const known = found.violations.find(({ id }) => id === contrast.id);
    if (known) known.nodes.push(...unseen);
    else found.violations.push({ ...contrast, nodes: unseen });
    contrast.nodes = contrast.nodes.filter((one) => !unseen.includes(one));
  }
  const early = "link[rel~=preconnect i], link[rel~=dns-prefetch i], script[type=speculationrules i]";
  const hint = (one) => {
    const [rel, href, type] = ["rel", "href", "type"].map((name) => one.getAttribute(name)); // a picture's link has no `rel`
    return rel ? `${rel} ${typeof one.href === "string" ? one.href : href}` : type;
  };
  const hints = [...document.querySelectorAll(early)].map(hint);
  const short = (text) => String(text).slice(0, most.html);
  const check = ({ id, impact, message }) => ({ id, impact, message: short(message) });
  const checks = ({ any, all, none }) => ({ any: any.map(check), all: all.map(check), none: none.map(check) });
  const summary = ({ failureSummary }) => (failureSummary || "").slice(0, 2000);
  const why = (one) => ({ impact: one.impact, failureSummary: summary(one), ...checks(one) });
  const node = (one) => ({ html: short(one.html), target: one.target.map(short), ...(whole && why(one)) });
  const rule = ({ id, impact, description, help, helpUrl, tags, nodes }) => {
    const shown = nodes.slice(0, most.nodes).map(node);
    return { id, impact: impact || "", description, help, helpUrl, tags, count: nodes.length, nodes: shown };
  };
  return { ...Object.fromEntries(lists.map((name) => [name, found[name].map(rule)])), hints };
};

// A violation as it is reported, without what only the case gets.
const reported = (one) => ({ ...one, nodes: one.nodes.map(({ html, target }) => ({ html, target })) });

// The violations in axe-core's results that a case made by itself, in our form.
const madeByCase = (found) => {
  const listed = found && Array.isArray(found.violations) ? found.violations : [];
  const text = (value, most) => String(value === undefined || value === null ? "" : value).slice(0, most);
  const list = (value) => (Array.isArray(value) ? value : []);
  const short = (value) => text(value, MOST.html);
  const node = ({ html, target }) => ({ html: short(html), target: list(target).map(short) });
  const names = ["id", "impact", "description", "help", "helpUrl"];
  return listed.map((one) => ({
    ...Object.fromEntries(names.map((name) => [name, text(one[name], 1000)])),
    tags: list(one.tags).map((tag) => text(tag, 100)),
    frame: Number.isInteger(one.frame) ? one.frame : 0,
    count: list(one.nodes).length,
    nodes: list(one.nodes).slice(0, MOST.nodes).map(node),
  }));
};

// The closed shadow roots of a page and its frames: host, root, and the frame (none for the page itself).
const closedRoots = async (devtools) => {
  await devtools.send("DOM.enable");
  const { nodes } = await devtools.send("DOM.getFlattenedDocument", { depth: -1, pierce: true });
  await devtools.send("DOM.disable");
  const [above, frames, found] = [new Map(), new Map(), []];
  for (const node of nodes) {
    above.set(node.nodeId, node.parentId);
    if (node.contentDocument) frames.set(node.contentDocument.nodeId, node.frameId);
    for (const root of node.shadowRoots || []) {
      above.set(root.nodeId, node.nodeId);
      if (root.shadowRootType === "closed") found.push([node, root]);
    }
  }
  const frameOf = ({ nodeId: at }) => {
    while (at && !frames.has(at)) at = above.get(at);
    return frames.get(at);
  };
  return found.map(([host, root]) => [host.backendNodeId, root.backendNodeId, frameOf(host)]);
};

// The isolated world of the page's frame with this id; without one, of another frame.
const worldOf = async (page, id, other) => {
  const all = page.frames().map((frame) => page._connection.toImpl(frame));
  const found = all.find((frame) => frame._id === id) || page._connection.toImpl(other);
  const world = await found.context("utility");
  return world.delegate._contextId;
};

// What the browser says of an element that was removed meanwhile, and is no part of the page.
const GONE = /No node with given id|Could not find node/;

// The documents of a frame that is in another process, such as one with a sandbox, have a session of their own.
const sessionsOf = async ({ context, page, devtools }) => {
  const [main, ...frames] = page.frames();
  const found = frames.map(async (frame) => [frame, await context.newCDPSession(frame).catch(() => null)]);
  return [[main, devtools], ...(await Promise.all(found)).filter(([, session]) => session)];
};

// A host's closed shadow root is visible to the isolated world only.
const openRoots = async (page, devtools, frame) => {
  for (const [backendHost, backendRoot, id] of await closedRoots(devtools)) {
    const executionContextId = await worldOf(page, id, frame);
    const resolve = (backendNodeId) => devtools.send("DOM.resolveNode", { backendNodeId, executionContextId });
    const resolved = await Promise.all([backendHost, backendRoot].map(resolve)).catch((error) => {
      if (!GONE.test(error.message)) throw error;
    });
    if (!resolved) continue;
    const [host, shadow] = resolved.map(({ object }) => object.objectId);
    await devtools.send("Runtime.callFunctionOn", {
      objectId: host,
      functionDeclaration: `function (root) { (globalThis.kept ||= []).push(this);
        Object.defineProperty(this, "shadowRoot", { value: root, configurable: true }); }`,
      arguments: [{ objectId: shadow }],
    });
  }
};

// Opens them in all frames, to the isolated world.
const openAll = async (watched) => {
  for (const [frame, session] of await sessionsOf(watched)) {
    await openRoots(watched.page, session, frame).catch((error) => {
      if (!frame.isDetached()) throw error;
    });
    if (session !== watched.devtools) await session.detach().catch(() => {});
  }
};

const TRIES = 3;

const auditedFrame = async (page, frame, place, source, whole) => {
  await injectAxe(page, frame, source);
  const lists = whole ? LISTS : ["violations"];
  const known = { ofPages: OF_PAGES, ofHtml: OF_HTML, made: MADE, most: MOST, walked: WALKED };
  const unseen = { controls: CONTROLS, pictures: PICTURES };
  return frame.evaluate(RUN, { ...known, ...unseen, top: place === 0, whole, lists });
};

// A frame whose address the browser refuses keeps a document without an isolated world, which the page may fill. Returns
// whether the frame has one now.
const enter = async ({ page, devtools }, frame) => {
  if (frame.url()) return true;
  const { _id: frameId, _page } = page._connection.toImpl(frame);
  const made = { frameId, worldName: _page.delegate.utilityWorldName, grantUniveralAccess: true };
  return devtools.send("Page.createIsolatedWorld", made).then(() => true, () => false);
};

// Whether a frame's element, or one above it, hides the frame from everyone who uses a screen reader.
const HIDDEN = (owner) => {
  const { axe } = globalThis;
  const was = Boolean(axe._tree);
  if (!was) axe.setup();
  try {
    return !axe.commons.dom.isVisibleToScreenReaders(owner);
  } finally {
    if (!was) axe.teardown();
  }
};

const isHidden = async (page, frame, source) => {
  const above = frame.parentFrame();
  if (!above) return false;
  await injectAxe(page, above, source);
  const owner = await frame.frameElement();
  return (await owner.evaluate(HIDDEN)) || isHidden(page, above, source);
};

// Ends what fades or moves, in every frame: an audit in the middle of it would depend on the load of the machine. What
// stands still, follows the scrolling or goes on for longer than this, in milliseconds, stays as people see it.
const MOTION = 5000;
const FINISH = (most) => {
  for (const animation of Document.prototype.getAnimations.call(document)) {
    const { currentTime, effect, playState, playbackRate } = animation;
    const way = playbackRate < 0 ? currentTime : effect?.getComputedTiming().endTime - currentTime;
    if (playState === "running" && way / Math.abs(playbackRate) <= most) animation.finish();
  }
};
const finish = (frame) => frame.evaluate(FINISH, MOTION).catch(() => {});

// A frame that is removed meanwhile is no part of the page. One that is hidden is audited when it is shown.
const audited = async (watched, source, whole) => {
  const { page, devtools } = watched;
  const all = { ...Object.fromEntries((whole ? LISTS : ["violations"]).map((name) => [name, []])), hints: [] };
  const frames = page.frames();
  const isEntered = await Promise.all(frames.map((frame) => enter(watched, frame)));
  const entered = frames.filter((_, place) => isEntered[place]);
  await Promise.all(entered.map(finish));
  await openAll(watched);
  for (const [place, frame] of frames.entries()) {
    if (!isEntered[place] || frame.url().startsWith("chrome-error:")) continue;
    if (place && (await isHidden(page, frame, source).catch(() => false))) continue;
    const found = await auditedFrame(page, frame, place, source, whole).catch((error) => {
      if (!frame.isDetached()) throw error;
      return {};
    });
    if (found.broken) return found;
    for (const [name, of] of Object.entries(found)) {
      all[name].push(...(name === "hints" ? of : of.map((one) => ({ ...one, frame: place }))));
    }
  }
  return all;
};

// {violations, hints}, with the other lists for the whole result, or {broken} with the reason if the audit failed.
// Rules have the number of their frame; 0 is the page itself. A page in motion, which may be replaced or lose elements
// meanwhile, is audited again.
const audit = async (watched, source, whole) => {
  for (let tries = 1; ; tries++) {
    try {
      return await audited(watched, source, whole);
    } catch (error) {
      if (tries === TRIES) return { broken: error.message };
      await watched.page.waitForLoadState("load").catch(() => {});
    }
  }
};

module.exports = { audit, finish, openAll, lazily, madeByCase, reported };
