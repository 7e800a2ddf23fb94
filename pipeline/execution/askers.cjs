// Who asks, in a disguised run: whether the code that is running is a source, which must not know that tests run, or a
// test, a runner or a library. Beside this file is `askers.json`: the folder of the repository, the one that it was
// moved from, its files that may know of tests, and its tests. Written for any Node that runs tests.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const { root, former, files, tests } = JSON.parse(fs.readFileSync(path.join(__dirname, "askers.json"), "utf8"));
const knowing = new Set(files.map((name) => path.join(root, name)));
//: the stack of the running functions, of a realm of its own, so that nobody else changes it; its lines name files
const stack = vm.runInNewContext(`
  Error.stackTraceLimit = 20;
  Error.prepareStackTrace = function (error, sites) {
    return sites.map(function (site) { return "\\n    at " + site; }).join("");
  };
  (function () { return new Error().stack; });
`);
const FILE = /\n\s+at (?:[^\n]*\()?((?:file:|[\\/]|\w:[\\/])[^\n]*?):\d+:\d+/g;

const nameOf = (file) => file.replace(/^file:\/\//, "").replace(/\?.*$/, "");

/** Whether a file is the repository's own. */
function isOwn(file) {
  const name = nameOf(file);
  const inside = path.relative(root, name);
  const isWithin = !inside.startsWith("..") && !path.isAbsolute(inside);
  return path.isAbsolute(name) && isWithin && !/(?:^|[\\/])node_modules[\\/]/.test(inside);
}

/** Whether a file is the repository's own, and does not know of tests. */
const isSource = (file) => isOwn(file) && !knowing.has(nameOf(file));

/** The running functions by their files, the innermost first; `before` is what stands above each in the stack. */
function* running() {
  const text = String(stack());
  FILE.lastIndex = 0;
  for (let found = FILE.exec(text); found; found = FILE.exec(text))
    if (path.dirname(found[1]) !== __dirname) yield { file: found[1], before: text.slice(0, found.index) };
}

/** Whether a source is running, and has called no other file but ours and those whose names match `through`. While a
 * stack is made, V8 gives another one as text. */
function isAskedBySource(through) {
  for (const { file } of running()) if (!(through && through.test(file))) return isSource(file);
  return false;
}

/** The same, unless it has called functions of Node whose lines in the stack match `own`. */
function isAskedDirectly(own) {
  for (const { file, before } of running()) return isSource(file) && !own.test(before);
  return false;
}

/** Whether a source is running, itself or by a library that it has called. */
function isDoneBySource() {
  for (const { file } of running()) if (isOwn(file)) return isSource(file);
  return false;
}

/** A stack as sources may see it: of the functions that are running, those of sources. */
function ownStack(error) {
  const frames = String(stack()).split("\n").filter(function (line) {
    FILE.lastIndex = 0;
    const found = FILE.exec(`\n${line}`);
    return found && path.dirname(found[1]) !== __dirname && isSource(found[1]);
  });
  return [String(error)].concat(frames).join("\n");
}

module.exports = { root, former, tests, isSource, isAskedBySource, isAskedDirectly, isDoneBySource, ownStack };
