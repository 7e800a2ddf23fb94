"use strict";
// A case's test.js: loaded anew for every page, and run with its helpers.
// `assert(name, fn, {type})` takes a boolean or {pass, message}, or a function or promise that gives one; if it throws
// or takes too long, it fails.
const path = require("path");
// Limits hold whatever a case makes of the global ones.
const { clearTimeout, setTimeout } = globalThis;

const TYPES = ["R", "BP"];
const MOST = { assertions: 500, name: 300, message: 2000, text: 100000 };
const NO_MESSAGE = "an error without a message";

const cut = (text, most) => String(text).slice(0, most);
// Where Playwright's log of a call begins, which depends on how fast the machine is.
const LOG = /\n+(?:Call log:|=+ logs =+)\n/;
// A message without colors, stack and Playwright's log, of which only what it waited for stays.
const plain = (message) => {
  const text = cut(message, MOST.text).replace(/\u001b\[[\d;]*[A-Za-z]/g, "");
  const [said, log = ""] = text.split(LOG, 2);
  const [waited] = /waiting for [^\n]*/.exec(log) || [];
  const what = said.replace(/\n\s+at [^\n]*/g, "").trim();
  return cut(waited ? `${what} (${waited.trim()})` : what, MOST.message);
};

// Anything may be thrown, but the message is never empty.
const messageOf = (error) => {
  try {
    return plain((error && error.message) || error) || NO_MESSAGE;
  } catch {
    return NO_MESSAGE;
  }
};

const typed = (type) => {
  const wanted = String(type || "R").toUpperCase();
  return TYPES.includes(wanted) ? wanted : "R";
};

const assertion = (name, pass, message, type) => ({
  name: cut(name === undefined ? "unknown" : name, MOST.name),
  status: pass ? "pass" : "fail",
  message: message === undefined || message === null ? "" : plain(message),
  type: typed(type),
});

// The exports of a test.js; rethrows its errors. Each page has a copy of the case at a path of its own, since ES modules
// cannot be unloaded. Other modules of earlier pages are.
const load = (folder) => {
  const root = path.dirname(folder) + path.sep;
  for (const known of Object.keys(require.cache)) if (known.startsWith(root)) delete require.cache[known];
  const found = require(path.join(folder, "test.js"));
  if (!found || typeof found.run !== "function") {
    throw new Error("no run export (expected module.exports.run = async ({ page, assert, utils }) => {...})");
  }
  return found;
};

const TOO_LONG = Symbol("too long");
const within = async (seconds, work) => {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, seconds * 1000, TOO_LONG)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

// The `assert` helper of a case, and the results that it collects; `release` ends assertions after the page's time, and
// `decided` hears of each that was decided in time.
const asserting = (seconds, release, decided = () => {}) => {
  const collected = [];
  const pending = new Set();
  const decide = async (name, fn, type) => {
    try {
      if (fn === undefined) throw new Error("the assertion has no function and no result");
      const found = await within(seconds, (async () => (typeof fn === "function" ? fn() : fn))());
      if (found === TOO_LONG) {
        await release();
        return assertion(name, false, `it took longer than ${seconds} s`, type);
      }
      decided();
      const explains = found !== null && typeof found === "object" && "pass" in found;
      return assertion(name, explains ? found.pass : found, explains ? found.message : "", type);
    } catch (error) {
      decided();
      return assertion(name, false, messageOf(error), type);
    }
  };
  const assert = (name, fn, opts) => {
    const place = collected.length;
    if (place >= MOST.assertions) throw new Error(`more than ${MOST.assertions} assertions`);
    const begun = assertion(name, false, "it did not finish", (opts || {}).type);
    collected.push(begun);
    const deciding = decide(begun.name, fn, begun.type).then((result) => {
      collected[place] = result;
      pending.delete(deciding);
    });
    pending.add(deciding);
    return deciding;
  };
  const settle = async () => {
    while (pending.size) await Promise.all(pending);
  };
  return { assert, collected, settle };
};

const isPass = (status) => status === true || /^pass(?:ed)?$/i.test(String(status).trim());

// The return value of `run`, in the older form. As in the public harness, what is no object is left out.
const returned = (found) =>
  Array.isArray(found && found.assertions)
    ? found.assertions
        .filter((one) => typeof one === "object" && one !== null)
        .slice(0, MOST.assertions)
        .map(({ name, status, pass, message, type }) => assertion(name, isPass(status ?? pass), message, type))
    : [];

module.exports = { TOO_LONG, asserting, cut, load, returned, messageOf, within };
