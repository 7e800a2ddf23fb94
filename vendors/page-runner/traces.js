"use strict";
// What a case leaves behind in its process, where the next page would meet it: work under way, listeners, contexts,
// and changed globals, prototypes or settings. Not covered: the inside of Playwright and of most modules of Node.
const MODULES = ["fs", "module", "path", "timers"];
// The runner reads its input all the time.
const OWN_WORK = "FSReqCallback";
// Reading these warns that there is no file for them.
const UNREAD = ["localStorage", "sessionStorage"];

const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

const chain = (object) => (isObject(object) ? [object, ...chain(Object.getPrototypeOf(object))] : []);

// Globals, what they have and what they make. Each is read, since some are only made when they are read.
const globals = () => {
  const names = Reflect.ownKeys(globalThis).filter((name) => !UNREAD.includes(name));
  const found = names.map((name) => globalThis[name]).filter(isObject);
  return [globalThis, ...found.flatMap((one) => [...chain(one), ...chain(one.prototype)])];
};

// The classes of what a case is given.
const classes = (page) => {
  const given = [page.context().browser(), page.context(), page, page.locator("html"), ...Object.values(page)];
  return given.filter(isObject).flatMap((one) => chain(Object.getPrototypeOf(one)));
};

const properties = (object) =>
  Reflect.ownKeys(object).map((name) => [name, Object.getOwnPropertyDescriptor(object, name)]);

const isSame = (one, other) =>
  other !== undefined && ["value", "get", "set"].every((part) => Object.is(one[part], other[part]));

const isUnchanged = ([object, known]) =>
  Reflect.ownKeys(object).length === known.length &&
  known.every(([name, was]) => isSame(was, Object.getOwnPropertyDescriptor(object, name)));

const work = () => {
  const counts = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] || 0) + 1;
  return { ...counts, [OWN_WORK]: 0 };
};

const settings = (browser) => {
  const listeners = (one) => one.eventNames().map((name) => [String(name), one.listenerCount(name)]);
  const listening = [process, browser].map(listeners);
  return JSON.stringify([process.env, process.cwd(), listening, browser.contexts().length]);
};

class Traces {
  constructor(browser) {
    this.browser = browser;
    this.known = new Map();
    this._know([...globals(), ...MODULES.map((name) => require(name))]);
    this.settings = settings(browser);
    this.work = work();
  }

  _know(objects) {
    for (const object of objects) if (!this.known.has(object)) this.known.set(object, properties(object));
  }

  // Takes in the classes of Playwright, with the first page.
  meet(page) {
    if (!this.met) this._know(classes(page));
    this.met = true;
  }

  // Whether a case left nothing. To be asked when its page is closed.
  areNone() {
    return (
      Object.entries(work()).every(([kind, count]) => count <= (this.work[kind] || 0)) &&
      settings(this.browser) === this.settings &&
      [...this.known].every(isUnchanged)
    );
  }
}

// Makes every timer one of the process's active resources. The process ends by `exit` alone, so none keeps it alive.
const countTimers = () => {
  const timer = setTimeout(() => {});
  Object.getPrototypeOf(timer).unref = function () {
    return this;
  };
  clearTimeout(timer);
};

module.exports = { Traces, countTimers };
