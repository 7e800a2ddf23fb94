// Keeps the methods and accessors by which tests read elements, events and styles, in a page and in its frames. What
// sources give their own elements in place of such methods reaches sources only. Loaded once in each process.
"use strict";
const Module = require("module");
const {
  OF_DOCUMENTS, isCalledBySource, isDoneForSource, isProxy, isReadForSource, noticing, ownerOf, readText,
} = require("./askers.cjs");
const { keysOf } = require("./early.cjs");
const { assignedTo, assigning, bases, keep, keepGlobal, note, rememberAssigned, share } = require("./kept.cjs");
const {
  isBelow, isClass, isMark, isNode, isOfAllNodes, kindOf, secrets, see, seeFrame, veil,
} = require("./veiling.cjs");
const { restore, restored } = require("./watching.cjs");
//: methods by which tests read elements
const OF_ELEMENTS = new Set((
  "getAttribute getAttributeNames getAttributeNode hasAttribute hasAttributes matches closest querySelector " +
  "querySelectorAll getElementsByTagName getElementsByClassName contains isEqualNode dispatchEvent"
).split(" "));
//: classes, in addition to those of nodes, by whose accessors and methods tests read a page; and these methods
const OF_PAGES = (
  "Attr CSSStyleDeclaration CSSStyleSheet DOMRect DOMRectReadOnly DOMTokenList HTMLCollection Location NamedNodeMap " +
  "NodeList Range Selection Storage StyleSheet ValidityState"
).split(" ");
const READING =
  /^(?:(?:get|has)(?:Element|Attribute)\w*|getRootNode|getSelection|querySelector(?:All)?|matches|closest|contains|dispatchEvent|is(?:Equal|Same)Node|compareDocumentPosition|(?:check|report)Validity|toJSON|toString)$/;
//: methods by which tests do what a person does in other ways; programs do so, too, and so may replace them
const ACTING = new Set((
  "blur click close focus hidePopover requestSubmit reset scrollIntoView select setRangeText setSelectionRange show " +
  "showModal showPopover submit togglePopover"
).split(" "));
const isKeepable = (name) => name !== "constructor" && name !== "setProperty" && name !== "removeProperty";
//: methods of the document's classes that are called for each event of a test and never for a person's; and the names
//: of event classes
const OF_EVENTS = { Document: ["createEvent"], Event: ["initEvent"], EventTarget: ["dispatchEvent"] };
const EVENT = /^(?:[A-Z]\w*)?Event$/;
//: methods by which tests read events
const OF_HEARD = ["composedPath", "getModifierState", "getTargetRanges"];
//: methods that Jest gives to its window itself
const OF_HEARING = ["addEventListener", "removeEventListener"];
//: accessors that give the windows of frames
const OF_FRAMES = ["contentDocument", "contentWindow"];
//: the file of jsdom that makes windows
const WINDOWS = /[\\/]node_modules[\\/]jsdom[\\/]lib[\\/]jsdom[\\/]browser[\\/]Window\.js$/;
//: files of jsdom with the classes of its objects behind nodes and lists
const INNER = /[\\/]node_modules[\\/]jsdom[\\/]lib[\\/]jsdom[\\/]living[\\/][^]*-impl\.js$/;
//: files of jsdom with names of properties that it gives to windows
const OF_WINDOWS = /[\\/]jsdom[\\/]lib[\\/]jsdom[\\/](?:browser[\\/]Window|living[^]*EventHandlers-impl)\.js$/;

const define = Object.defineProperty;
const isDefined = Reflect.defineProperty;
const described = Object.getOwnPropertyDescriptor;
const parentOf = Object.getPrototypeOf;
const owns = Function.prototype.call.bind(Object.prototype.hasOwnProperty);
//: prototypes whose own answers for elements reach sources only
const withheld = new WeakSet();
//: the window of the running test file; a library makes its elements in another realm
let view = {};
//: for each class of OF_PAGES in this window, whether an object belongs to it
let pages = [];
//: the windows of frames whose classes are kept, and the prototypes of the classes in OF_PAGES there
const frames = new WeakSet();
const framed = new WeakSet();
//: what else hides that a frame is none of a browser: its window is passed on
let disguiseFrame = () => {};
//: what is kept of jsdom's own objects, and the names of the properties by which jsdom finds them from a window
const inner = new WeakSet();
const innerNames = new Set();
//: how to find out whether something is an event with a window
let isOfWindow = () => false;
//: how to find out whether something is a node itself
let kindOfNode;
//: the names of accessors that are kept
const accessors = new Set();
//: the nodes that the document's library has made since they were checked, if they are
let made;
//: whether the document is computing styles; and its functions that do so, with ours in their place
const computing = noticing();
const computed = new WeakMap();

const isFunction = (value) => typeof value === "function";
/** Whether an object is of one of the classes of OF_PAGES. Most objects are plain, which is found out fastest. */
const isOfPages = (object) =>
  Object(object) === object && !bases.has(parentOf(object)) && (pages.some((belongs) => belongs(object)) || isBelow(object, framed));

/** Whether a property of a node, or of a class, has a name by which tests read nodes. Custom elements may have fields of any
 * name but those of methods. */
function isReading(object, name) {
  if (isRead(name)) return OF_ELEMENTS.has(name) || name in parentOf(object);
  return accessors.has(name) && name in parentOf(object) && !(isInPage(object) && String(object.localName).includes("-"));
}

/** The names of an object's properties that have such a name and hold a value. */
const readingNames = (object) =>
  Object.getOwnPropertyNames(object).filter((name) => "value" in described(object, name) && isReading(object, name));

/** The nodes that every document has. */
const allPages = ({ document } = view) => [document, document.documentElement, document.head, document.body].filter(Boolean);

/** Nodes, and what they inherit from. */
function withParents(nodes) {
  const found = new Set(nodes);
  nodes.forEach(function (node) {
    for (let one = parentOf(node); one && !isOfAllNodes(one); one = parentOf(one)) found.add(one);
  });
  return found;
}

/** The name of a property by which a node, or what it inherits from, answers tests, and which nobody assigned or defined.
 * The classes of custom elements may have methods of all but the names that are withheld. */
function answerOf(owner) {
  const known = assignedTo(owner);
  const isKnown = isInPage(owner) || isClass(owner);
  return readingNames(owner).find((name) => !known.has(name) && (isKnown || OF_ELEMENTS.has(name)));
}

/** Fail if a node that was made since the last check answers tests itself, or something that it inherits from does: by a
 * property that nobody assigned or defined, as a class field does, and `Reflect.set` on behalf of another object. */
function checkNodes() {
  const nodes = made.concat(allPages()).filter((node) => !isProxy(node) && isNode(node) && isInPage(node));
  made = [];
  withParents(nodes).forEach(function (owner) {
    const field = answerOf(owner);
    if (field) throw new Error(`an element answers itself: ${field}`);
  });
}

/** Remember all nodes from now on, for these checks, and what nodes and classes have already. */
function watchNodes() {
  made = [];
  rememberAssigned();
  const kinds = keysOf(view).filter((name) => /^[A-Z]/.test(String(name))).map((name) => view[name]);
  const owners = kinds.map((type) => isFunction(type) && type.prototype).filter((owner) => owner && isClass(owner));
  owners.concat(allPages()).forEach((owner) => readingNames(owner).forEach((name) => assigning(owner, name)));
}

/** Remember the node to which the document's library gives its mark. */
const noteMade = (object, name) => made && isMark(name) && made.push(object);

/** Keep an accessor. Its descriptor shows the functions that it has now. */
function keepAccessor(owner, name, isOfNodes) {
  const own = described(owner, name);
  if (!own.configurable || !own.get || /^on/.test(name)) return;
  const { enumerable } = own;
  let now = own;
  const get = function () {
    restore();
    const told = now.get ? now.get.call(this) : now.value;
    if (isOfNodes && told && OF_FRAMES.includes(name)) keepFrame(told.defaultView || told);
    return told;
  };
  const set = own.set && function (other) {
    if (now.set) now.set.call(this, other);
  };
  define(owner, name, { configurable: false, enumerable, get, set });
  if (isOfNodes) accessors.add(name);
  const show = () => Object.assign({}, now, { configurable: true, enumerable });
  const take = function (given) {
    now = "value" in given ? { value: given.value, writable: true } : Object.assign({ get: now.get, set: now.set }, given);
  };
  note(owner, name, { enumerable, show, take });
}

/** Whether a prototype, or one above it that no library made, has one of these names and so answers for an element. */
function isLying(object, names = OF_ELEMENTS) {
  let one = object;
  for (; one && !isOfAllNodes(one); one = parentOf(one)) {
    if (isProxy(one)) return true;
    const isKnown = isClass(one) || (names === OF_ELEMENTS && withheld.has(one));
    if (!isKnown && Object.getOwnPropertyNames(one).some((name) => names.has(name))) return true;
  }
  return !one; // it is no node any more
}

/** Let what answers for an element on a prototype, and on those above it that no library made, answer sources only.
 * Returns whether that succeeded. */
function isHonest(object) {
  let isDone = true;
  let one = object;
  for (; one && !isOfAllNodes(one); one = parentOf(one)) {
    if (isProxy(one)) return false;
    if (isClass(one) || !isLying(one)) continue;
    const owner = one;
    if (Array.from(OF_ELEMENTS).every((name) => isWithheld(owner, name))) withheld.add(owner);
    else isDone = false;
  }
  return isDone && Boolean(one);
}

/** Give all other callers what a prototype inherits in place of its own property. */
function isWithheld(owner, name) {
  const own = described(owner, name) || {};
  const get = function () {
    if (!("value" in own || own.get) || !isCalledBySource()) return Reflect.get(parentOf(owner), name, this);
    return own.get ? own.get.call(this) : own.value;
  };
  const set = function (other) {
    if (isDoneForSource()) return;
    if (own.set) own.set.call(this, other);
    else define(this, name, { value: other, configurable: true, enumerable: true, writable: true });
  };
  return isDefined(owner, name, { configurable: true, enumerable: own.enumerable, get, set });
}

/** From now on, tests read the page of this global object. */
function readPage(world) {
  view = see(world);
  pages = OF_PAGES.map((type) => view[type]).filter(isFunction).map(kindOf);
  isOfWindow = kindOf(view.UIEvent);
  kindOfNode = view.Node && (described(view.Node.prototype, "nodeType") || {}).get;
}

/** Whether this is the name of a method by which tests read elements. */
const isRead = (name) => OF_ELEMENTS.has(name) || READING.test(String(name));

/** Whether a property of this name answers tests that read a page. */
const isAnswer = (object, name) => ((isRead(name) && isNode(object)) || isOfPages(object)) && name in object;

/** Whether a property of this name acts for a person, for all elements of a class. */
const isActing = (object, name) => ACTING.has(name) && isClass(object) && name in object;

/** Whether a property of this name would hide a kept accessor of a node. */
const isHiding = (object, name) => accessors.has(name) && isNode(object) && isInPage(object) && name in object;

/** Remember the name of an answer that somebody defines. */
const noteAnswer = (object, name) => made && (isRead(name) || accessors.has(name)) && assigning(object, name);

/** Whether an object may not get this parent, which answers for a node. */
function isLyingParent(object, parent) {
  if (!isNode(object) || (parent !== null && Object(parent) !== parent)) return false;
  if (isInPage(object) && isLying(parent, accessors) && isCalledBySource()) return true;
  return isLying(parent) && isDoneForSource() && !isHonest(parent);
}

/** Whether this describes the `view` of an event as nothing, as libraries for tests do. */
function isWithoutWindow(object, descriptor) {
  const isEvent = isOfWindow(object) && Object(descriptor) === descriptor;
  return isEvent && !("value" in descriptor ? descriptor.value : isFunction(descriptor.get) && descriptor.get());
}

/** Whether this is a node itself, not a prototype of nodes. */
function isInPage(object) {
  try {
    return Boolean(kindOfNode.call(object));
  } catch (error) {
    return false;
  }
}

/** Keep sources from giving nodes the method by which snapshots ask any object what to draw in its place. */
function keepDrawing(owner) {
  if (owns(owner, "toJSON")) return;
  const get = () => undefined;
  const set = function (value) {
    if (!isDoneForSource()) define(this, "toJSON", { configurable: true, enumerable: true, value, writable: true });
  };
  define(owner, "toJSON", { configurable: false, enumerable: false, get, set });
  veil(owner, (name) => name === "toJSON");
}

/** Keep the accessors and methods by which tests read nodes and styles. Sources may give their own elements accessors
 * of these names. */
function keepReading(view) {
  if (!view.Node) return;
  keysOf(view).forEach(function (name) {
    const type = /^[A-Z]/.test(String(name)) && view[name];
    const owner = isFunction(type) && type.prototype;
    const isOfPage = OF_PAGES.includes(name);
    if (owner && isOfPage) framed.add(owner);
    const isOfNodes = isOfAllNodes(owner) || isNode(owner);
    if (!owner || !(isOfPage || isOfNodes || EVENT.test(String(name)))) return;
    const names = Object.getOwnPropertyNames(owner);
    const symbols = Object.getOwnPropertySymbols(owner);
    names.forEach((key) => keepAccessor(owner, key, isOfNodes));
    if (isOfAllNodes(owner)) keepDrawing(owner);
    if (isOfPage) return keep(owner, names.concat(symbols).filter(isKeepable), { isStrict: isOfPages, show: restored });
    if (!isOfNodes) return share(owner, names.filter((key) => OF_HEARD.includes(key)));
    keep(owner, names.filter((key) => READING.test(key)), { isStrict: isNode, show: restored });
    share(owner, names.filter((key) => ACTING.has(key)), isClass);
  });
}

/** Keep the same in the window of a frame, which has classes of its own. */
function keepFrame(window) {
  if (frames.has(window) || window === view || !view.Node) return;
  frames.add(window);
  seeFrame(window);
  disguiseFrame(window);
  hideInner(window);
  keepReading(window);
  keepEvents(window, window);
}

const whenFramed = (does) => (disguiseFrame = does);

/** Keep the windows that jsdom makes, and the methods of its objects behind nodes. */
function keepInner() {
  const { _cache } = Module;
  const names = Object.getOwnPropertyNames(_cache);
  names.filter((name) => WINDOWS.test(name)).forEach(function (name) {
    const { exports } = _cache[name];
    const { createWindow } = exports;
    if (!isFunction(createWindow) || inner.has(createWindow)) return;
    exports.createWindow = function () {
      const made = createWindow.apply(this, arguments);
      keepFrame(made);
      return made;
    };
    inner.add(exports.createWindow);
  });
  if (!innerNames.size)
    names.filter((name) => OF_WINDOWS.test(name)).forEach((name) =>
      readText(name).split(/[^\w$]+/).forEach((word) => /^_[a-z]/.test(word) && innerNames.add(word)));
  names.filter((name) => INNER.test(name)).forEach(function (name) {
    const { implementation } = _cache[name].exports || {};
    const owner = isFunction(implementation) && implementation.prototype;
    if (!owner || inner.has(owner)) return;
    inner.add(owner);
    keep(owner, Object.getOwnPropertyNames(owner).filter((key) => READING.test(key)), { isStrict: isInner });
  });
}

const isInner = (object) => isBelow(object, inner);

/** Hide the properties by which jsdom finds its own objects from a window. No page has them, and no source asks. */
function hideInner(window) {
  veil(window, (name) => innerNames.has(name) || OF_HEARING.includes(name));
  Reflect.ownKeys(window).filter((name) => innerNames.has(name)).forEach(function (name) {
    let own = described(window, name);
    if (!own || !own.configurable) return;
    const get = function () {
      if (isReadForSource(OF_DOCUMENTS)) return undefined;
      return own.get ? own.get.call(this) : own.value;
    };
    const set = function (other) {
      if (isReadForSource(OF_DOCUMENTS)) return;
      if (own.set) own.set.call(this, other);
      else own = { value: other };
    };
    secrets.add(get);
    define(window, name, { configurable: true, enumerable: false, get, set }); // jsdom deletes some
    note(window, name, { enumerable: false });
  });
}

/** Keep the methods and classes by which tests cause events. */
function keepEvents(world, view) {
  if (!view.EventTarget) return;
  Object.keys(OF_EVENTS).forEach((type) => OF_EVENTS[type].forEach((name) =>
    keep(ownerOf(view[type].prototype, name), [name], { isStrict: isNode })));
  new Set([world, view]).forEach(function (owner) {
    const names = keysOf(owner).filter((name) => EVENT.test(String(name)) && isFunction(owner[name]));
    names.forEach((name) => keepGlobal(owner, name));
  });
}

/** Make custom elements answer tests like other elements. */
function keepElements() {
  const registry = view.customElements && parentOf(view.customElements);
  if (!registry || !owns(registry, "define") || !described(registry, "define").configurable) return;
  const real = registry.define;
  registry.define = function (name, type, ...words) {
    if (type && type.prototype && isLying(type.prototype) && isDoneForSource()) isHonest(type.prototype);
    return real.call(this, name, type, ...words);
  };
}

/** Know when the document computes styles, by functions in place of its own. */
function watchStyles(world) {
  const owners = [world, (world.document || {}).defaultView];
  owners.filter((owner) => owner && isFunction(owner.getComputedStyle)).forEach(function (owner) {
    const real = owner.getComputedStyle;
    const own = described(owner, "getComputedStyle");
    const { length, name } = real;
    const value = computed.get(real) || Object.defineProperties(computing.within(real), {
      length: { configurable: true, value: length }, name: { configurable: true, value: name },
    });
    computed.set(real, value);
    if (own && "value" in own) isDefined(owner, "getComputedStyle", Object.assign(own, { value }));
    else Reflect.set(owner, "getComputedStyle", value);
  });
}

/** The window of the page that tests read. */
const viewed = () => view;

module.exports = {
  checkNodes, hideInner, isActing, isAnswer, isComputing: computing.isNow, isHiding, isLyingParent, isWithoutWindow, keepElements,
  keepEvents, keepInner, keepReading, noteAnswer, noteMade, readPage, viewed, watchNodes, watchStyles, whenFramed,
};
