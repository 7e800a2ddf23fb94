// Keeps functions that runners, libraries and tests call, too, in a disguised run: sources cannot replace those of the
// language and of Node, and the methods and accessors by which tests read elements. Tests, runners and libraries may
// replace anything, unless a source has them do it. Loaded once in each process; each realm is kept separately.
"use strict";
const Module = require("module");
const { types } = require("util");
const {
  OF_DOCUMENTS, isAbove, isAskedForSource, isCalledBySource, isDoneForSource, isGivenBySource, isReadForSource, noticing,
  ownerOf, readText,
} = require("./askers.cjs");
const { keysOf } = require("./early.cjs");
const {
  deafProxy, hideDoubles, hideProperties, isBelow, isClass, isMark, isNode, isOfAllNodes, isTaken, kindOf, marked, nameOf, replace,
  secrets, see, seeFrame, veil,
} = require("./veiling.cjs");
//: objects with the language's functions, except those that fake clocks replace
const OF_LANGUAGE =
  "Object Reflect JSON Promise Promise.prototype Array Array.prototype String.prototype Map.prototype " +
  "Set.prototype WeakMap.prototype WeakSet.prototype Symbol.prototype Error Function.prototype";
//: of these, the ones with methods that loops, spreads and string methods call; some have symbols as names
const OF_LOOPS = "Array.prototype String.prototype Map.prototype Set.prototype RegExp.prototype";
//: the language's global names, except those that fake clocks replace
const OF_GLOBALS =
  "Array Boolean Error Function JSON Map Number Object Promise Reflect RegExp Set String Symbol WeakMap WeakSet";
//: methods that are not kept, because tests of real repositories delete them
const DELETED = ["constructor", "toString"];
//: classes whose methods ask the constructor of an object for the class of their result
const OF_KINDS = ["Array", "Promise", "RegExp"];
//: names by which the language, Node and runners ask any object, of which the first ones can be kept; and prototypes that
//: sources cannot give these names
const KEPT_ASKED = ["asymmetricMatch", Symbol.for("nodejs.util.inspect.custom")];
const ASKED = KEPT_ASKED.concat("then", "toJSON");
const OF_ASKED = "Object Function Array String Number Boolean Map Set Error RegExp";
const OF_ELEMENTS =
  "getAttribute getAttributeNames getAttributeNode hasAttribute hasAttributes matches closest querySelector " +
  "querySelectorAll getElementsByTagName getElementsByClassName contains isEqualNode dispatchEvent";
//: classes, in addition to those of nodes, by whose accessors and methods tests read a page; and these methods
const OF_PAGES = (
  "Attr CSSStyleDeclaration CSSStyleSheet DOMRect DOMRectReadOnly DOMTokenList HTMLCollection Location NamedNodeMap " +
  "NodeList Range Selection Storage StyleSheet ValidityState"
).split(" ");
const READING =
  /^(?:(?:get|has)(?:Element|Attribute)\w*|getRootNode|getSelection|querySelector(?:All)?|matches|closest|contains|dispatchEvent|is(?:Equal|Same)Node|compareDocumentPosition|(?:check|report)Validity|toString)$/;
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
//: functions of a window that call others later
const TIMERS = ["setTimeout", "setInterval", "requestAnimationFrame", "queueMicrotask"];
//: modules of Node by which reports leave a process, or from which their classes inherit
const OF_NODE =
  ["fs", "fs/promises", "v8", "events", "worker_threads", "util", "path", "vm", "module", "assert", "assert/strict"];
//: names and paths of libraries whose functions tests call themselves, to render, to find roles and to check code
const OF_LIBRARIES =
  /(?:^|[\\/]node_modules[\\/])(?:aria-query|axe-core|dom-accessibility-api|eslint|@typescript-eslint[\\/](?:rule-tester|utils)|react(?:-dom|-test-renderer)?|vue|@vue[\\/]server-renderer)(?:$|[\\/](?!node_modules[\\/]))/;
const JEST = /[\\/]jest-runtime[\\/]build[\\/]index\.js$/;
const OF_PROCESS = ["emit", "send", "exit", "reallyExit", "on", "once", "addListener", "removeListener", "nextTick"];

const define = Object.defineProperty;
const isDefined = Reflect.defineProperty;
const described = Object.getOwnPropertyDescriptor;
const parentOf = Object.getPrototypeOf;
const owns = Function.prototype.call.bind(Object.prototype.hasOwnProperty);
//: the kept properties: object -> name -> whether it is `enumerable`; `show` returns the descriptor that all callers
//: see (without it, only sources see a plain property), and `take` accepts a replacement
const kept = new WeakMap();
//: objects from which everything inherits: sources can add nothing that affects assignments to inheriting objects
const roots = new WeakSet();
//: the prototypes of all objects in a realm; and those to which anybody may still add properties, with the names that
//: they had when the disguise began
const bases = new WeakSet();
let open = [];
//: the realms whose functions are kept
const realms = new WeakSet();
//: properties that are too slow to keep: object, name, its property, its value, and whether they are in the realm of
//: sources, of which Jest makes one for each test file; and how to find out whether all of them are as before
let watched = [];
let isAsBefore = () => true;
//: prototypes from which many objects inherit: sources cannot give them the names in ASKED; and those of lists, whose
//: places sources cannot define either
const common = new WeakSet();
const lists = new WeakSet();
//: prototypes whose own answers for elements reach sources only
const withheld = new WeakSet();
//: what libraries export, if it is kept
const libraries = new WeakSet();
//: global objects that inherit their `window`
const windows = new WeakSet();
//: the window of the running test file; a library makes its elements in another realm
let view = {};
//: for each class of OF_PAGES in this window, and for that of events with a window, whether an object belongs to it
let pages = [];
//: the windows of frames whose classes are kept, and the prototypes of the classes in OF_PAGES there; and the accessors
//: that give such windows
const frames = new WeakSet();
const framed = new WeakSet();
const OF_FRAMES = ["contentDocument", "contentWindow"];
//: what else hides that a frame is none of a browser: its window is passed on
let disguiseFrame = () => {};
//: the file of jsdom that makes windows, and its exports
const WINDOWS = /[\\/]node_modules[\\/]jsdom[\\/]lib[\\/]jsdom[\\/]browser[\\/]Window\.js$/;
//: files of jsdom with the classes of its objects behind nodes and lists
const INNER = /[\\/]node_modules[\\/]jsdom[\\/]lib[\\/]jsdom[\\/]living[\\/][^]*-impl\.js$/;
const inner = new WeakSet();
//: files of jsdom with names of properties that it gives to windows, and these names
const OF_WINDOWS = /[\\/]jsdom[\\/]lib[\\/]jsdom[\\/](?:browser[\\/]Window|living[^]*EventHandlers-impl)\.js$/;
const innerNames = new Set();
let isOfWindow = () => false;
//: how to find out whether something is a node itself
let kindOfNode;
const elementsOf = new Set(OF_ELEMENTS.split(" "));
//: the names of accessors that are kept
const accessors = new Set();
//: the nodes that the document's library has made since they were checked, if they are; and by node, the names of those
//: properties that somebody assigned or defined
let made;
const assigned = new WeakMap();
//: whether the document is computing styles; and its functions that do so, with ours in their place
const computing = noticing();
const computed = new WeakMap();

const isFunction = (value) => typeof value === "function";
/** Whether an object is of one of the classes of OF_PAGES. Most objects are plain, which is found out fastest. */
const isOfPages = (object) =>
  Object(object) === object && !bases.has(parentOf(object)) && (pages.some((belongs) => belongs(object)) || isBelow(object, framed));

/** Keep an object's own functions of these names, or the values that `isKept` accepts. Sources cannot give others to
 * objects that `isStrict` accepts. A value is read with `show`, which gets it and its name. */
function keep(owner, names, { isKept = isFunction, isStrict, show = (value) => value } = {}) {
  names.forEach(function (name) {
    const own = owner && described(owner, name);
    if (!own || !own.configurable || !isKept(own.value)) return;
    let { value } = own;
    let copies; // objects to which this property was copied, with values of their own
    const read = (object) => show(copies && copies.has(object) ? copies.get(object) : value, name);
    const write = (other) => (value = other);
    const get = function () {
      return read(this);
    };
    const set = function (other) {
      if (this === owner || this === undefined || this === null) {
        if (!isDoneForSource()) write(other);
        return;
      }
      const copied = described(this, name);
      if (isStrict && isStrict(this) && isGivenBySource()) return;
      if (copied && copied.set === set) copies = (copies || new WeakMap()).set(this, other);
      else define(assigning(this, name), name, { value: other, configurable: true, enumerable: true, writable: true });
    };
    define(owner, name, { configurable: false, enumerable: own.enumerable, get, set });
    note(owner, name, taking(own.enumerable, () => read(owner), write));
  });
}

/** Keep methods that programs may replace, too: what a source gives an owner in place of its own one reaches sources
 * only. Libraries can replace them for themselves, but not for a source. */
function share(owner, names, isStrict = () => false) {
  names.forEach(function (name) {
    const own = owner && described(owner, name);
    if (!own || !own.configurable || !isFunction(own.value)) return;
    let { value } = own;
    let theirs;
    const get = () => (theirs !== undefined && isCalledBySource() ? theirs : value);
    const give = function (given, object) {
      const other = "value" in given || !isFunction(given.get) ? given.value : given.get.call(object);
      if (isAskedForSource(name)) theirs = other;
      else value = other;
    };
    const set = function (other) {
      if (this === owner || this === undefined || this === null) give({ value: other });
      else if (!isStrict(this) || !isAskedForSource(name))
        define(this, name, { value: other, configurable: true, enumerable: true, writable: true });
    };
    define(owner, name, { configurable: false, enumerable: own.enumerable, get, set });
    note(owner, name, Object.assign(taking(own.enumerable, get), { isShared: true, take: give }));
  });
}

/** How to keep a value that all callers see as a plain property, and that tests may replace. */
function taking(enumerable, read, write) {
  return {
    enumerable,
    show: () => ({ configurable: true, enumerable, value: read(), writable: true }),
    take: (given, object) => write("value" in given ? given.value : given.get.call(object)),
  };
}

/** Record that a property is kept, and how. */
function note(owner, name, how) {
  if (!kept.has(owner)) kept.set(owner, new Map());
  kept.get(owner).set(name, how);
}

/** Remember that somebody gives this property to an object. Returns the object. */
function assigning(object, name) {
  if (made && !assigned.has(object)) assigned.set(object, new Set());
  if (made) assigned.get(object).add(name);
  return object;
}

/** Whether a property of a node, or of a class, has a name by which tests read nodes. Custom elements may have fields of any
 * name but those of methods. */
function isReading(object, name) {
  if (elementsOf.has(name) || READING.test(name)) return true;
  return accessors.has(name) && name in parentOf(object) && !(isInPage(object) && String(object.localName).includes("-"));
}

/** The names of an object's properties that have such a name and hold a value. */
const readingNames = (object) =>
  Object.getOwnPropertyNames(object).filter((name) => "value" in described(object, name) && isReading(object, name));

/** The nodes that every document has. */
const allPages = ({ document } = view) => [document, document.documentElement, document.head, document.body].filter(Boolean);

/** Nodes, and the classes to which they belong. */
function withClasses(nodes) {
  const found = new Set(nodes);
  nodes.forEach(function (node) {
    for (let one = parentOf(node); one && !isOfAllNodes(one); one = parentOf(one)) if (isClass(one)) found.add(one);
  });
  return found;
}

/** Fail if a node that was made since the last check answers tests itself, or its class does: by a property that nobody
 * assigned or defined, as a class field does, and `Reflect.set` on behalf of another object. */
function checkNodes() {
  const nodes = made.concat(allPages()).filter((node) => !types.isProxy(node) && isNode(node) && isInPage(node));
  made = [];
  withClasses(nodes).forEach(function (owner) {
    const known = assigned.get(owner) || new Set();
    const field = readingNames(owner).find((name) => !known.has(name));
    if (field) throw new Error(`an element answers itself: ${field}`);
  });
}

/** Remember all nodes from now on, for these checks, and what nodes and classes have already. */
function watchNodes() {
  made = [];
  const kinds = keysOf(view).filter((name) => /^[A-Z]/.test(String(name))).map((name) => view[name]);
  const owners = kinds.map((type) => isFunction(type) && type.prototype).filter((owner) => owner && isClass(owner));
  owners.concat(allPages()).forEach((owner) => readingNames(owner).forEach((name) => assigning(owner, name)));
}

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

const namesOf = (owner) => Object.getOwnPropertyNames(owner).filter((name) => !DELETED.includes(name));
const keepAll = (owner, show) => owner && keep(owner, namesOf(owner), { show });

/** The descriptor that a kept property would have if it were not kept; nothing for other properties. */
function behind(owner, name) {
  const how = kept.has(owner) && kept.get(owner).get(name);
  return how && (how.show ? how.show() : { value: described(owner, name).get() });
}

/** The descriptor that callers see, given the one `found`: a kept property looks like any other. The window of a global
 * object always looks like its own property, so that code that replaces it can restore it. */
function shown(object, name, found) {
  if (found === undefined && name === "window" && windows.has(object))
    return { configurable: true, enumerable: true, value: object.window, writable: true };
  const own = found && found.get && kept.has(object) && kept.get(object).get(name);
  if (own && own.show) return own.show();
  if (!own || !isDoneForSource()) return found;
  return { configurable: true, enumerable: own.enumerable, value: found.get(), writable: true };
}

/** Whether this is the name of a place in a list. An accessor there would get what anyone puts into a list. */
const isPlace = (name) => typeof name !== "symbol" && /^\d+$/.test(String(name));

/** Whether a property with this descriptor does not affect assignments to inheriting objects. */
function isPlain(descriptor) {
  if (!descriptor || types.isProxy(descriptor)) return false;
  const value = described(descriptor, "value");
  const writable = described(descriptor, "writable");
  return Boolean(value && "value" in value && writable && writable.value === true);
}

/** Whether a prototype, or one above it that no library made, has one of these names and so answers for an element. */
function isLying(object, names = elementsOf) {
  let one = object;
  for (; one && !isOfAllNodes(one); one = parentOf(one)) {
    if (types.isProxy(one)) return true;
    const isKnown = isClass(one) || (names === elementsOf && withheld.has(one));
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
    if (types.isProxy(one)) return false;
    if (isClass(one) || !isLying(one)) continue;
    const owner = one;
    if (Array.from(elementsOf).every((name) => isWithheld(owner, name))) withheld.add(owner);
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

/** Replace a realm's functions that define properties, so that sources cannot use them on what is kept. */
function keepDefining(world) {
  if (world.document) {
    view = see(world);
    pages = OF_PAGES.map((type) => view[type]).filter(isFunction).map(kindOf);
    isOfWindow = kindOf(view.UIEvent);
    kindOfNode = view.Node && (described(view.Node.prototype, "nodeType") || {}).get;
  }
  if (roots.has(world.Object.prototype)) return;
  const { Object: own, Reflect: reflect } = world;
  const isShadowed = (object, name) => accessors.has(name) && isNode(object) && isInPage(object) && name in object;
  const isRefused = function (object, name, descriptor) {
    if (made && isMark(name)) made.push(object);
    if (typeof object === "function" && isTaken(object, name, descriptor)) return true;
    if (name === "view" && isWithoutWindow(object, descriptor)) return true;
    const how = kept.has(object) && kept.get(object).get(name);
    const isOfAll = bases.has(object) || (roots.has(object) && !isPlain(descriptor));
    const isOfElements = elementsOf.has(name) || READING.test(String(name));
    const isOfPage = (isOfElements && isNode(object)) || isOfPages(object);
    const isAsked = (common.has(object) && ASKED.includes(name)) || (KEPT_ASKED.includes(name) && isNode(object));
    const isOfMany = isAsked || (lists.has(object) && isPlace(name));
    const isNamed = isOfAll || isOfMany || (how && !how.isShared) || (isOfPage && name in object);
    if (isNamed && isDoneForSource()) return true;
    if (!how && ACTING.has(name) && isClass(object) && name in object && isAskedForSource(name)) return true;
    if (name === "dispatchEvent" && isNode(object) && isCalledBySource()) return true;
    if (how && how.take && descriptor && ("value" in descriptor || descriptor.get)) {
      how.take(descriptor, object);
      return true;
    }
    if (!how && isShadowed(object, name) && isCalledBySource()) return true;
    if (made && (isOfElements || accessors.has(name))) assigning(object, name);
    return false;
  };
  replace(own, "defineProperty", (real) => function (object, key, descriptor) {
    const name = nameOf(key);
    return isRefused(object, name, descriptor) ? object : real(object, name, descriptor);
  });
  replace(own, "defineProperties", (real) => function (object, descriptors) {
    const taken = {};
    Reflect.ownKeys(descriptors).forEach(function (name) {
      const { enumerable } = described(descriptors, name);
      const value = enumerable && descriptors[name];
      if (enumerable && !isRefused(object, name, value)) define(taken, name, { enumerable, value });
    });
    return real(object, taken);
  });
  replace(reflect, "defineProperty", (real) => function (object, key, descriptor) {
    const name = nameOf(key);
    return isRefused(object, name, descriptor) || real(object, name, descriptor);
  });
  ["__defineGetter__", "__defineSetter__"].forEach((method) =>
    replace(own.prototype, method, (real) => function (key, does) {
      const name = nameOf(key);
      if (!isRefused(this, name)) real.call(this, name, does);
    }));
  const isMoved = function (object, parent) {
    if (object === world || isOfAllNodes(object)) return isDoneForSource();
    if (!isNode(object) || (parent !== null && Object(parent) !== parent)) return false;
    if (isInPage(object) && isLying(parent, accessors) && isCalledBySource()) return true;
    return isLying(parent) && isDoneForSource() && !isHonest(parent);
  };
  replace(own, "setPrototypeOf", (real) => (object, parent) =>
    isMoved(object, parent) ? object : real(object, parent));
  replace(reflect, "setPrototypeOf", (real) => (object, parent) => isMoved(object, parent) || real(object, parent));
  const proto = described(own.prototype, "__proto__");
  define(own.prototype, "__proto__", Object.assign({}, proto, {
    set: function (parent) {
      if (!isMoved(this, parent)) proto.set.call(this, parent);
    },
  }));
  hideProperties(world, shown);
  [own.prototype, world.Function.prototype].forEach((root) => roots.add(root));
  bases.add(own.prototype);
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

/** Undo what sources assigned to watched properties before anybody calls a method. Returns the method. */
function restored(method) {
  restore();
  return method;
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
  veil(window, (name) => innerNames.has(name));
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

/** Keep a global function. A global accessor stays configurable, because its runner removes it after the tests. */
function keepGlobal(world, name) {
  const own = described(world, name);
  if (!own || !own.configurable) return;
  let { value } = own;
  const get = own.get || (() => value);
  const write = own.set ? own.set.bind(world) : (other) => (value = other);
  const set = function (other) {
    if (!isDoneForSource()) write(other);
  };
  define(world, name, { configurable: Boolean(own.get), enumerable: own.enumerable, get, set });
  note(world, name, own.get ? { enumerable: own.enumerable } : taking(own.enumerable, get, write));
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

/** Keep the window of a global object. A global object that is its own window, such as Vitest's, has it deleted after
 * the tests. Its window therefore moves to its prototype: there it cannot be deleted, and deleting it from the global
 * object is no error. */
function keepWindow(world) {
  const own = described(world, "window");
  if (!own || !own.configurable || own.value !== world) return keep(world, ["window"], { isKept: Boolean });
  let { value } = own;
  const get = () => value;
  const set = function (other) {
    if (!isDoneForSource()) value = other;
  };
  const parent = parentOf(world);
  define(parent, "window", { configurable: false, enumerable: own.enumerable, get, set });
  delete world.window;
  windows.add(world);
  const { enumerable, take } = taking(own.enumerable, get, set);
  [world, parent].forEach((owner) => note(owner, "window", { enumerable, take }));
}

/** The prototypes of a realm's iterators and generators, and what they inherit from. */
function iteratorsOf(world) {
  const made = world.Function("return [[][Symbol.iterator](), ''[Symbol.iterator](), new Map().keys(), new Set().keys()]")();
  const generators = parentOf(parentOf(world.Function("return (function* () {})()")()));
  return made.map(parentOf).concat(generators, parentOf(generators));
}

/** Watch a property that V8 would handle slowly if it were kept. Sources cannot redefine it; what they assign is undone
 * before anybody reads an element or calls a kept method of the sources' realm. */
function watch(owner, name, isOfSources) {
  const own = described(owner, name);
  if (!own || !own.configurable || !isFunction(owner[name])) return;
  const place = { owner, name, own, value: owner[name], isOfSources };
  watched.push(place);
  const take = function (given) {
    restore();
    place.value = "value" in given ? given.value : given.get.call(owner);
    place.own = Object.assign({ configurable: true, enumerable: own.enumerable },
      given.get ? { get: given.get, set: own.set } : { value: place.value, writable: true });
    define(owner, name, place.own);
    isAsBefore = comparing();
  };
  note(owner, name, { enumerable: false, show: () => place.own, take });
}

/** Watch what loops call in a realm where keeping it would make loops up to 16 times as slow. */
function watchLoops(world, at) {
  OF_LOOPS.split(" ").map(at).concat(iteratorsOf(world)).forEach((owner) =>
    Object.getOwnPropertySymbols(owner).concat("next", "exec").forEach((name) => watch(owner, name)));
}

/** Watch which class the methods of a class use for their result. Keeping it in any realm would make the methods of
 * lists up to 7 times as slow in all realms, and those of regular expressions 4 times. */
function watchKinds(world, isOfSources) {
  OF_KINDS.map((name) => world[name]).forEach(function (type) {
    watch(type.prototype, "constructor", isOfSources);
    watch(type, Symbol.species, isOfSources);
  });
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

/** Undo what sources assigned to watched properties, by which methods of lists work, too. */
function restore() {
  for (let at = 0; !isAsBefore() && at < watched.length; at++) {
    const { owner, name, own, value } = watched[at];
    if (owner[name] !== value) define(owner, name, own);
  }
}

/** How to find out whether all watched properties are as before. Tests read elements so often that each comparison has
 * code of its own, which V8 can optimize: a loop takes ten times as long. */
function comparing() {
  const parts = watched.map((_, at) => `o${at}[n${at}] === v${at}`);
  const words = [].concat(...watched.map((_, at) => [`o${at}`, `n${at}`, `v${at}`]));
  const given = [].concat(...watched.map(({ owner, name, value }) => [owner, name, value]));
  return new Function(...words, `return () => ${parts.join(" && ") || true};`)(...given);
}

/** Remove properties that were added to all objects, as only sources do by assignment, and undo what sources assigned to
 * watched properties. */
function clearBases() {
  restore();
  open.forEach(function ({ base, names }) {
    const found = Reflect.ownKeys(base);
    if (found.length === names.size) return;
    const added = found.filter((name) => !names.has(name) && "value" in described(base, name));
    added.forEach((name) => Reflect.deleteProperty(base, name));
  });
}

/** Keep the methods that loops call, and the global names of the language's classes. */
function keepLoops(world, at) {
  OF_LOOPS.split(" ").map(at).concat(iteratorsOf(world)).forEach(function (owner) {
    keepAll(owner, restored);
    keep(owner, Object.getOwnPropertySymbols(owner), { show: restored });
  });
  OF_GLOBALS.split(" ").forEach((name) => keepGlobal(world, name));
}

/** Keep sources from answering for all objects, or for all values of a kind, when an assertion compares them. The other
 * names in ASKED cannot be kept like this, since code asks whether an object has them. */
function keepAsked(world) {
  const { prototype } = world.Object;
  OF_ASKED.split(" ").forEach((name) => common.add(world[name].prototype));
  lists.add(world.Array.prototype);
  KEPT_ASKED.forEach(function (name) {
    if (owns(prototype, name)) return;
    let value;
    const get = () => value;
    const set = function (other) {
      if ((common.has(this) || isNode(this)) && isDoneForSource()) return;
      if (this === prototype) value = other;
      else if (Object(this) === this)
        define(this, name, { value: other, configurable: true, enumerable: true, writable: true });
    };
    define(prototype, name, { configurable: false, enumerable: false, get, set });
    note(prototype, name, taking(false, get, set.bind(prototype)));
  });
}

/** Remove what answers for all objects or lists, and let nobody add anything to all objects from now on. */
function closeRealm(world) {
  const owners = OF_ASKED.split(" ").map((name) => world[name].prototype);
  clearBases();
  owners.forEach((owner) => ASKED.slice(KEPT_ASKED.length).forEach((name) => Reflect.deleteProperty(owner, name)));
  Object.preventExtensions(owners[0]);
  open = open.filter(({ base }) => base !== owners[0]);
}

/** Let functions that a source binds count as a source's, whoever calls them. Bound functions have no file. */
function markBound(world) {
  const { prototype } = world.Function;
  const { configurable, value: real } = described(prototype, "bind");
  if (!configurable || !real) return;
  const { apply, construct } = Reflect;
  const value = {
    bind(self) {
      const bound = apply(real, this, arguments);
      return isAbove(value) ? marked(bound, construct, apply) : bound;
    },
  }.bind;
  define(prototype, "bind", { configurable: true, enumerable: false, value, writable: true });
}

/** The same for functions that a source gives to the timers of a window or of Node, which call them with any words. In a
 * page, sources get numbers. What puts the real timers back, as fake clocks do, puts these back: a library notices if a
 * timer is not the one from before. */
function markTimers(owner) {
  TIMERS.forEach(function (name) {
    const own = described(owner, name);
    if (!own || !own.writable || !own.configurable || !isFunction(own.value)) return;
    const marking = new Proxy(own.value, {
      apply: function (real, self, words) {
        if (!isFunction(words[0]) || !isCalledBySource()) return Reflect.apply(real, self, words);
        const does = marked(words[0], Reflect.construct, Reflect.apply);
        const timer = Reflect.apply(real, self, [does].concat(words.slice(1)));
        return view.Node && timer && timer[Symbol.toPrimitive] ? +timer : timer;
      },
    });
    let now = marking;
    const get = () => now;
    const set = (other) => (now = other === own.value ? marking : other);
    define(owner, name, { configurable: true, enumerable: own.enumerable, get, set });
    note(owner, name, taking(own.enumerable, get, set));
  });
}

/** Keep a realm's functions. Those of regular expressions and loops are kept in the realm of sources only, since V8
 * runs kept ones slowly. */
function keepRealm(world, ofSources) {
  if (realms.has(world)) return; // Jest's own realm is the same for all test files of a process
  realms.add(world);
  open.push({ base: world.Object.prototype, names: new Set(Reflect.ownKeys(world.Object.prototype)) });
  const at = (place) => place.split(".").reduce((owner, name) => owner && owner[name], world);
  markBound(world);
  hideDoubles(world);
  world.Proxy = deafProxy(world.Proxy);
  if (world === ofSources) watched = watched.filter((place) => !place.isOfSources);
  watchKinds(world, world === ofSources);
  keepAsked(world);
  OF_LANGUAGE.split(" ").forEach((place) => keepAll(at(place), world === ofSources ? restored : undefined));
  if (world === ofSources) {
    keepReading(view);
    keepEvents(world, view);
    keepInner();
    hideInner(view);
    new Set([world, view]).forEach(markTimers);
    keepLoops(world, at);
    keepGlobal(world, "Proxy");
    new Set([world, view]).forEach((owner) =>
      ["getComputedStyle", "getSelection"].forEach((name) => keepGlobal(owner, name)));
  } else {
    watchLoops(world, at);
  }
  isAsBefore = comparing();
  keepElements();
  if ((described(world, "document") || {}).get) keepGlobal(world, "document");
  else keep(world, ["document"], { isKept: Boolean });
  keepWindow(world);
}

/** Keep the functions of Node's modules. */
function keepNode() {
  keepLibraries();
  OF_NODE.concat(process.env.NODE_TEST_CONTEXT ? "node:test" : []).forEach(function (name) {
    let own;
    try {
      own = require(name);
    } catch (error) {
      return; // this version of Node does not have it
    }
    keepAll(own);
    const classes = Object.keys(own).filter((key) => /^[A-Z]/.test(key) && isFunction(own[key]));
    classes.forEach((key) => keepAll(own[key].prototype));
    classes.forEach((key) => own[key].prototype && roots.add(own[key].prototype));
  });
  const { _extensions, syncBuiltinESMExports } = Module;
  keepAll(_extensions);
  if (syncBuiltinESMExports) syncBuiltinESMExports();
}

/** Keep what libraries export, when Node or Jest gives it to anyone. */
function keepLibraries() {
  const keeping = (real, place) =>
    function () {
      const told = Reflect.apply(real, this, arguments);
      if (OF_LIBRARIES.test(arguments[place])) keepLibrary(told);
      return told;
    };
  Module._load = keeping(Module._load, 0);
  Object.getOwnPropertyNames(Module._cache).filter((name) => JEST.test(name)).forEach(function (name) {
    const { prototype } = Module._cache[name].exports.default || Module._cache[name].exports;
    if (prototype && prototype.requireModuleOrMock)
      prototype.requireModuleOrMock = keeping(prototype.requireModuleOrMock, 1);
  });
}

/** Keep the functions that a library exports, itself or in objects, and the methods of its classes. */
function keepLibrary(exported) {
  if (Object(exported) !== exported || types.isProxy(exported) || libraries.has(exported)) return;
  libraries.add(exported);
  const names = namesOf(exported).filter((name) => !/^_/.test(name));
  const values = names.map((name) => (described(exported, name) || {}).value);
  const classes = values.filter((value, at) => isFunction(value) && /^[A-Z]/.test(names[at])).map((type) => type.prototype);
  const objects = values.filter((value) => Object(value) === value && !isFunction(value) && !Array.isArray(value));
  [exported].concat(objects, classes).filter((owner) => owner && !types.isProxy(owner)).forEach((owner) =>
    share(owner, namesOf(owner)));
}

/** Keep the functions that a process has or inherits. Those of which `isHidden` is true seem to be missing. */
function keepProcess(own, isHidden) {
  OF_PROCESS.forEach(function (name) {
    if (isFunction(own[name]) && !owns(own, name))
      define(own, name, { configurable: true, enumerable: false, value: own[name], writable: true });
  });
  keep(own, OF_PROCESS, { show: (value, name) => (isHidden(name) ? undefined : value) });
}

module.exports = {
  behind, checkNodes, clearBases, closeRealm, isComputing: computing.isNow, keepDefining, keepNode, keepProcess, keepRealm,
  markBound, note, restored, watchNodes, watchStyles, whenFramed,
};
