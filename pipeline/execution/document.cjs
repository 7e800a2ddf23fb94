// What the document tells sources in a disguised run where a browser tells something else: its name, boxes of elements,
// media, whether people cause an event, and whether they look at it. Tests, runners and libraries are told the truth, and
// what tests replace stays replaced. All boxes are the same one, so that sources that compare them do what they do
// without a layout. Where snapshots show boxes, nobody has one.
"use strict";
const { about: { boxes }, isAskedBySource, isDoneBySource } = require("./askers.cjs");

const BOX = { x: 8, y: 8, width: 120, height: 24, top: 8, right: 128, bottom: 32, left: 8 };
const SIZES = {};
["offset", "client", "scroll"].forEach((kind) =>
  Object.assign(SIZES, { [`${kind}Height`]: BOX.height, [`${kind}Width`]: BOX.width }));
const SEEN = {
  Document: { hidden: false, visibilityState: "visible" },
  Screen: { width: 1920, height: 1080, availWidth: 1920, availHeight: 1080, colorDepth: 24, pixelDepth: 24 },
};
//: what everybody is told, without asking who asks: jsdom asks each time that it matches a selector, and tells otherwise
//: only until an element has been focused
const TOLD_TO_ALL = { Document: { hasFocus: true } };
const OF_DOCUMENTS = /[\\/]node_modules[\\/]jsdom[\\/]/;
//: what is global where this file runs; Node before 12 has no name for it
const world = new Function("return this")();
//: tests may have made only a part of the document's window global
const view = world.document && world.document.defaultView;

//: elements that browsers do not show, or not always
const NOT_ALWAYS_SHOWN =
  /^(?:area|base|basefont|datalist|dialog|head|input|link|meta|noembed|noframes|noscript|param|rp|script|source|style|template|title|track)$/i;
//: what computes styles, unless tests replace it
const computed = view && view.getComputedStyle;
//: a style sheet -> the number of its rules, and the selectors of those that hide elements
const known = new WeakMap();

/** Replace what a class has under a name by what `make` makes of its getter or function. */
function replace(type, name, make) {
  const owner = (view || world)[type] && (view || world)[type].prototype;
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

/** The same of all style sheets of a document. */
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
    return false; // a rule with a selector that a document does not know has no effect
  }
}

/** Whether anything says that an element is not shown. It costs much less than its style, which takes every rule. */
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

const isMissing = (element, told) => !told && isAskedBySource() && isShown(element);

function giveSizes() {
  Object.keys(SIZES).forEach(function (name) {
    const type = /^offset/.test(name) ? "HTMLElement" : "Element";
    replace(type, name, (real) =>
      function () {
        const told = real.call(this);
        return isMissing(this, told) ? SIZES[name] : told;
      });
  });
  replace("HTMLElement", "offsetParent", (real) =>
    function () {
      const told = real.call(this);
      const body = this.ownerDocument && this.ownerDocument.body;
      return this !== body && this.parentElement && isMissing(this, told) ? body : told;
    });
}

function giveBoxes() {
  const box = () => Object.assign(Object.create(null, { toJSON: { value: () => BOX } }), BOX);
  replace("Element", "getBoundingClientRect", (real) =>
    function () {
      const told = real.call(this);
      return isMissing(this, told.width || told.height) ? box() : told;
    });
  replace("Element", "getClientRects", (real) =>
    function () {
      const told = real.call(this);
      return isMissing(this, told.length) ? Object.assign([box()], { item: () => box() }) : told;
    });
}

function giveMedia() {
  const calls = "addListener removeListener addEventListener removeEventListener dispatchEvent".split(" ");
  const matchMedia = function (media) {
    const list = { media, matches: false, onchange: null };
    calls.forEach((name) => (list[name] = function () {}));
    return list;
  };
  new Set([world, view]).forEach(function (owner) {
    if (!view || !owner || owner.matchMedia) return;
    if ((Object.getOwnPropertyDescriptor(owner, "matchMedia") || { configurable: true }).configurable === false) return;
    let own;
    const get = () => (own === undefined && isAskedBySource() ? matchMedia : own);
    const set = (other) => (own = other);
    Object.defineProperty(owner, "matchMedia", { configurable: true, enumerable: false, get, set });
  });
}

/** A page has no files: jsdom reads them, in a process of its own if it has to wait. */
function hideFiles() {
  const { URL } = view || {};
  const protocolOf = URL && Object.getOwnPropertyDescriptor(URL.prototype, "protocol").get;
  const isFile = function (address) {
    try {
      return protocolOf.call(new URL(`${address}`, world.document.baseURI)) === "file:";
    } catch (error) {
      return false; // the real one refuses it
    }
  };
  replace("XMLHttpRequest", "open", (real) =>
    function (method, address) {
      if (isFile(address) && isDoneBySource()) throw new view.DOMException("not available", "NetworkError");
      return real.apply(this, arguments);
    });
}

/** Events that tests dispatch are trusted as those of people are. */
function giveTrust() {
  if (!view || !view.Event) return;
  const event = new view.Event("x");
  const symbol = Object.getOwnPropertySymbols(event).find((one) => String(one) === "Symbol(impl)");
  let owner = symbol && event[symbol];
  while (owner && !Object.prototype.hasOwnProperty.call(owner, "initEvent")) owner = Object.getPrototypeOf(owner);
  if (!owner || Object.prototype.hasOwnProperty.call(owner, "isTrusted")) return;
  const trusted = new WeakMap();
  const get = function () {
    return trusted.get(this) || isAskedBySource(OF_DOCUMENTS);
  };
  const set = function (told) {
    trusted.set(this, told);
  };
  Object.defineProperty(owner, "isTrusted", { configurable: true, enumerable: true, get, set });
}

function giveName() {
  replace("Navigator", "userAgent", (real) =>
    function () {
      return real.call(this).replace(/(?:jsdom|HappyDOM)\/\S+/, "Chrome/126.0.0.0 Safari/537.36");
    });
}

/** A page that somebody looks at. */
function giveView() {
  const told = (given) => (real) =>
    function () {
      return isAskedBySource() ? given : real.call(this);
    };
  const toAll = (given) => () =>
    function () {
      return given;
    };
  for (const [given, make] of [[SEEN, told], [TOLD_TO_ALL, toAll]])
    Object.keys(given).forEach(function (type) {
      Object.keys(given[type]).forEach((name) => replace(type, name, make(given[type][name])));
    });
}

if (boxes) {
  giveSizes();
  giveBoxes();
}
giveMedia();
giveTrust();
giveName();
giveView();
hideFiles();
