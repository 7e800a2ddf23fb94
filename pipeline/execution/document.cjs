// Makes the document of a disguised run answer sources like a browser: its name, the boxes of elements, media queries,
// whether a person caused an event and in which window, and whether the page is visible and has the focus. Tests, runners
// and libraries get the true answers, except that every event is a person's to libraries, too; what tests replace stays
// replaced. The boxes of all elements in the page are equal, so sources that compare boxes behave as they do without a
// layout. If snapshots show boxes, no element gets one. The address of the page is that of a site, to everybody, unless
// tests name the true one. Exports a function that does this for the test's own window or for that of a frame.
"use strict";
const {
  OF_DOCUMENTS, about: { boxes, host }, isAskedForSource, isCalledBySource, isCalledByTest, isDoneForSource, ownerOf,
} = require("./askers.cjs");

const BOX = { x: 8, y: 8, width: 120, height: 24, top: 8, right: 128, bottom: 32, left: 8 };
//: the browser that the page seems to be in
const SYSTEM = "(X11; Linux x86_64)", BROWSER = "Chrome/126.0.0.0 Safari/537.36";
const SEEN = {
  Document: { hidden: false, visibilityState: "visible" },
  Navigator: {
    appVersion: `5.0 ${SYSTEM} AppleWebKit/537.36 (KHTML, like Gecko) ${BROWSER}`,
    platform: "Linux x86_64",
    vendor: "Google Inc.",
  },
  Screen: { width: 1920, height: 1080, availWidth: 1920, availHeight: 1080, colorDepth: 24, pixelDepth: 24 },
};
//: the addresses of pages on this machine, and of those without one
const OF_MACHINE = /^(?:https?:\/\/(?:localhost|127\.0\.0\.1)[:/]|about:blank$)/;
//: what media queries tell of a desktop's window, in addition to its size
const MEDIA = {
  all: [undefined], screen: [undefined], color: [undefined], orientation: ["landscape"],
  hover: [undefined, "hover"], "any-hover": [undefined, "hover"], pointer: [undefined, "fine"],
  "any-pointer": [undefined, "fine"], "prefers-color-scheme": ["light"], "prefers-contrast": ["no-preference"],
  "prefers-reduced-motion": ["no-preference"],
};
//: the global object of this file's realm; Node before 12 has no name for it
const world = new Function("return this")();
//: the document's window, of which tests may have made only a part global
const view = world.document && world.document.defaultView;
//: the window whose document is being changed: this one or a frame's
let page = view || world;

//: elements that browsers do not show, or not always
const NOT_ALWAYS_SHOWN =
  /^(?:area|base|basefont|datalist|dialog|head|input|link|meta|noembed|noframes|noscript|param|rp|script|source|style|template|title|track)$/i;
//: the document's own function, which tests may replace
let computed;
//: a style sheet -> the number of its rules, and the selectors of the rules that hide elements
const known = new WeakMap();

/** Replace a getter or method of a class, or of one above it; `make` gets the original and returns the replacement. */
function replace(type, name, make) {
  const owner = page[type] && ownerOf(page[type].prototype, name);
  const own = owner && Object.getOwnPropertyDescriptor(owner, name);
  const key = own && (own.get ? "get" : "value");
  if (!own || !own.configurable || typeof own[key] !== "function") return;
  Object.defineProperty(owner, name, Object.assign({}, own, { [key]: make(own[key]) }));
}

/** The selectors of rules that hide elements. */
function hiding(rules) {
  const found = Array.from(rules || [], (rule) => {
    const hides = rule.selectorText && rule.style && rule.style.getPropertyValue("display") === "none";
    return (hides ? [rule.selectorText] : []).concat(hiding(rule.cssRules));
  });
  return [].concat.apply([], found);
}

/** These selectors, for all style sheets of a document. */
function hidingIn(page) {
  const sheets = Array.from(page.styleSheets || []).concat(Array.from(page.adoptedStyleSheets || []));
  const found = sheets.map(function (sheet) {
    const count = sheet.cssRules.length;
    if (!known.has(sheet) || known.get(sheet).count !== count)
      known.set(sheet, { count, selectors: hiding(sheet.cssRules) });
    return known.get(sheet).selectors;
  });
  return [].concat.apply([], found);
}

function matches(element, selector) {
  try {
    return element.matches(selector);
  } catch (error) {
    return false; // a rule whose selector the document does not support has no effect
  }
}

/** Whether an element may be hidden. This is much cheaper than computing its style, which takes every rule. */
function mayBeHidden(element, selectors) {
  return (
    NOT_ALWAYS_SHOWN.test(element.localName) || element.hasAttribute("hidden") ||
    /display\s*:\s*none/i.test(element.getAttribute("style") || "") ||
    selectors.some((selector) => matches(element, selector))
  );
}

/** Whether a browser would show an element. */
function isShown(element) {
  const page = element.ownerDocument && element.ownerDocument.defaultView;
  if (!page || !element.ownerDocument.contains(element)) return false;
  const selectors = page.getComputedStyle === computed ? hidingIn(element.ownerDocument) : ["*"];
  for (let one = element; one; one = one.parentElement)
    if (mayBeHidden(one, selectors) && page.getComputedStyle(one).display === "none") return false;
  return true;
}

/** Whether a source asks an element, by a property or method of this name, for a box that it would have in a browser. */
const isMissing = (element, told, name) => !told && isAskedForSource(name) && isShown(element);

/** The box of an element. The page itself fills the window. */
function boxOf(element) {
  const { defaultView, body, documentElement } = element.ownerDocument;
  if (element !== body && element !== documentElement) return BOX;
  const { innerWidth: width, innerHeight: height } = defaultView;
  return { x: 0, y: 0, width, height, top: 0, right: width, bottom: height, left: 0 };
}

function giveSizes() {
  ["offset", "client", "scroll"].forEach((kind) => ["Height", "Width"].forEach(function (side) {
    const name = kind + side;
    replace(kind === "offset" ? "HTMLElement" : "Element", name, (real) =>
      function () {
        const told = real.call(this);
        return isMissing(this, told, name) ? boxOf(this)[side.toLowerCase()] : told;
      });
  }));
  replace("HTMLElement", "offsetParent", (real) =>
    function () {
      const told = real.call(this);
      const body = this.ownerDocument && this.ownerDocument.body;
      return this !== body && this.parentElement && isMissing(this, told, "offsetParent") ? body : told;
    });
}

function giveBoxes() {
  const boxed = (box) => Object.assign(Object.create(null, { toJSON: { value: () => box } }), box);
  replace("Element", "getBoundingClientRect", (real) =>
    function () {
      const told = real.call(this);
      return isMissing(this, told.width || told.height, "getBoundingClientRect") ? boxed(boxOf(this)) : told;
    });
  replace("Element", "getClientRects", (real) =>
    function () {
      const told = real.call(this);
      if (!isMissing(this, told.length, "getClientRects")) return told;
      const box = boxed(boxOf(this));
      return Object.assign([box], { item: (at) => (at ? null : box) });
    });
}

/** Whether a condition of a media query holds for the window of a browser on a desktop. Unknown ones do not. */
function holds(condition) {
  const [, name, value] = /^\(?\s*([\w-]+)\s*(?::\s*([^)]*?)\s*)?\)?$/.exec(condition) || [];
  const [, edge, side] = /^(min|max)-(?:device-)?(width|height)$/.exec(name) || [];
  if (!side) return name in MEDIA && MEDIA[name].includes(value);
  const own = side === "width" ? view.innerWidth : view.innerHeight;
  const limit = parseFloat(value) * (/em$/.test(value) ? 16 : 1);
  return edge === "min" ? own >= limit : own <= limit;
}

/** Whether a media query matches: one of a list, each of which is a list of conditions. */
const isMatching = (media) =>
  String(media).toLowerCase().split(",").some(function (query) {
    const [, before, conditions] = /^\s*(not\s|only\s)?\s*([^]*?)\s*$/.exec(query);
    return conditions.split(/\s+and\s+/).every(holds) !== /not/.test(before);
  });

function giveMedia(owners) {
  const calls = "addListener removeListener addEventListener removeEventListener dispatchEvent".split(" ");
  const matchMedia = function (media) {
    const list = { media, matches: isMatching(media), onchange: null };
    calls.forEach((name) => (list[name] = function () {}));
    return list;
  };
  new Set(owners).forEach(function (owner) {
    if (!view || owner.matchMedia) return;
    if ((Object.getOwnPropertyDescriptor(owner, "matchMedia") || { configurable: true }).configurable === false) return;
    let own;
    const get = () => (own === undefined && isAskedForSource("matchMedia") ? matchMedia : own);
    const set = (other) => (own = other);
    Object.defineProperty(owner, "matchMedia", { configurable: true, enumerable: false, get, set });
  });
}

/** Give sources what every browser has and the document lacks, if it changes nothing. What is assigned takes its place, on
 * an element or a prototype. */
function giveMissing() {
  const scroll = Object.defineProperty((() => undefined).bind(), "name", { configurable: true, value: "scrollIntoView" });
  giveProperty("Element", "scrollIntoView", () => scroll);
  giveProperty("HTMLElement", "innerText", (element) => element.textContent);
}

function giveProperty(type, name, told) {
  const { prototype } = page[type] || {};
  if (!prototype || name in prototype) return;
  const get = function () {
    return isAskedForSource(name) ? told(this) : undefined;
  };
  const set = function (value) {
    Object.defineProperty(this, name, { configurable: true, enumerable: true, value, writable: true });
  };
  Object.defineProperty(prototype, name, { configurable: true, enumerable: true, get, set });
}

/** Refuse requests for files, which a page cannot read. jsdom can; for a synchronous request, it starts a process. */
function hideFiles() {
  const { URL, DOMException } = page;
  const owner = URL && ownerOf(URL.prototype, "protocol"); // happy-dom's class inherits from Node's
  const protocolOf = owner && Object.getOwnPropertyDescriptor(owner, "protocol").get;
  const isFile = function (address) {
    try {
      return protocolOf.call(new URL(`${address}`, world.document.baseURI)) === "file:";
    } catch (error) {
      return false; // the real function rejects it
    }
  };
  replace("XMLHttpRequest", "open", (real) =>
    function (method, address) {
      if (isFile(address) && isDoneForSource()) throw new DOMException("not available", "NetworkError");
      return real.apply(this, arguments);
    });
}

/** Make events that tests dispatch look like those that people cause: they have a window, are trusted, and tell the time
 * since the page was loaded. */
function giveEvents() {
  if (!view || !page.Event || !page.UIEvent) return;
  giveWindow(page);
  giveTrust(page);
  giveTimes(page);
}

/** Older versions of jsdom tell the time since 1970. */
function giveTimes({ performance: { timeOrigin } = {} }) {
  replace("Event", "timeStamp", (real) =>
    function () {
      const told = real.call(this);
      return told > timeOrigin && isAskedForSource("timeStamp") ? told - timeOrigin : told;
    });
}

/** In happy-dom, the window is a property of the event itself. */
function giveWindow(view) {
  replace("UIEvent", "view", (real) =>
    function () {
      return real.call(this) || (isCalledByTest(OF_DOCUMENTS) ? null : view);
    });
  if ("view" in view.UIEvent.prototype) return;
  const { UIEvent } = view;
  const belongs = UIEvent[Symbol.hasInstance];
  replace("EventTarget", "dispatchEvent", (real) =>
    function (event) {
      if (belongs.call(UIEvent, event) && event.view === null)
        event.view = (this.ownerDocument || {}).defaultView || view;
      return real.call(this, event);
    });
}

/** In jsdom, each event says itself that it is trusted, and asks a hidden object for the answer. */
function giveTrust(view) {
  const event = new view.Event("x");
  const symbol = Object.getOwnPropertySymbols(event).find((one) => String(one) === "Symbol(impl)");
  const owner = symbol ? ownerOf(event[symbol], "initEvent") : view.Event.prototype;
  if (!owner || Object.prototype.hasOwnProperty.call(owner, "isTrusted")) return;
  const trusted = new WeakMap();
  const get = function () {
    return trusted.get(this) || !isCalledByTest(OF_DOCUMENTS);
  };
  const set = function (told) {
    trusted.set(this, told);
  };
  Object.defineProperty(owner, "isTrusted", { configurable: true, enumerable: true, get, set });
}

function giveName() {
  replace("Navigator", "userAgent", (real) =>
    function () {
      return real.call(this).replace(/(?:jsdom|HappyDOM)\/\S+/, BROWSER).replace(/\((?:linux|darwin)\)/, SYSTEM);
    });
}

/** Make the page look visible and on a screen. */
function giveView() {
  const told = (given, name) => (real) =>
    function () {
      return isAskedForSource(name) ? given : real.call(this);
    };
  Object.keys(SEEN).forEach(function (type) {
    Object.keys(SEEN[type]).forEach((name) => replace(type, name, told(SEEN[type][name], name)));
  });
}

/** Make the page look focused, also to sources that ask while no element has the focus. jsdom asks when it matches
 * `:focus`, and would then find the body. It does so for each rule of a style that it computes: looking up the caller
 * each time would cost too much. */
function giveFocus(isComputing) {
  replace("Document", "hasFocus", (real) =>
    function () {
      return real.call(this) || (!isComputing() && isAskedForSource("hasFocus"));
    });
}

/** Give the document an address at another host, if it has none or one of this machine. What reads an address cannot be
 * replaced in a window, so jsdom's own record of it is changed, which its history has as well. */
function giveAddress(document) {
  if (!host || !OF_MACHINE.test(document.URL)) return;
  const site = `https://${host}`;
  const symbol = Object.getOwnPropertySymbols(document).find((one) => String(one) === "Symbol(impl)");
  const inner = (symbol && document[symbol]) || {};
  const { _URL: address } = inner;
  const [, rest] = /^http[^/]*\/\/[^/]*([^]*)/.exec(document.URL) || ["", "/"];
  if (view.happyDOM && view.happyDOM.setURL) view.happyDOM.setURL(site + rest);
  if (!address) return;
  const path = address.host ? address.path : [""];
  Object.assign(address, { scheme: "https", host, port: null, path, cannotBeABaseURL: false });
  [inner, view].forEach((owner) => ["_origin", "origin"].forEach(function (name) {
    const own = Object.getOwnPropertyDescriptor(owner, name);
    if (own && own.writable) owner[name] = site;
  }));
}

module.exports = function (isComputing, frame) {
  page = frame || view || world;
  if (!frame) computed = view && view.getComputedStyle;
  if (!frame && view) giveAddress(world.document);
  if (boxes) {
    giveSizes();
    giveBoxes();
  }
  giveMedia(frame ? [frame] : [world, page]);
  giveMissing();
  giveEvents();
  giveName();
  giveView();
  giveFocus(isComputing);
  hideFiles();
};
