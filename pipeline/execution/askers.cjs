// Who asks, in a disguised run: whether the code that is running is a source, which must not know that tests run, or a
// test, a runner or a library. Beside this file is `askers.json`: the folder of the repository, the one that it was
// moved from, its files that may know of tests, its tests, and whether elements have boxes. Written for any Node that
// runs tests.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const { root, former, files, tests, boxes } = JSON.parse(fs.readFileSync(path.join(__dirname, "askers.json"), "utf8"));
const knowing = new Set(files.map((name) => path.join(root, name)));
const FILE = /\n\s+at (?:[^\n]*\()?((?:file:|[\\/]|\w:[\\/])[^\n]*?):\d+:\d+/g;
//: the running functions, from a realm of its own, so that nobody else changes it: `whole` is a stack whose lines name
//: files, `nearest` the file of the innermost function that is not of this folder, among a few. The latter is asked
//: whenever a document is, thousands of times in a test
const stack = vm.runInNewContext(`
  var isWhole = true;
  function text(sites) {
    return sites.map(function (site) { return "\\n    at " + site; }).join("");
  }
  function nearest(sites) {
    for (var i = 0; i < sites.length; i++) {
      var file = sites[i].getFileName();
      if (file && /^(?:file:|[\\\\/]|\\w:[\\\\/])/.test(file) && file.indexOf(folder) !== 0) return file;
    }
    return "";
  }
  Error.prepareStackTrace = function (error, sites) { return isWhole ? text(sites) : nearest(sites); };
  function made(whole, limit) {
    isWhole = whole;
    Error.stackTraceLimit = limit;
    return new Error().stack;
  }
  ({ whole: function () { return made(true, 20); }, nearest: function () { return made(false, 8); } });
`, { folder: __dirname + path.sep });

const nameOf = (file) => file.replace(/^file:\/\//, "").replace(/\?.*$/, "");
//: answers of `isOwn`
const own = new Map();

/** Whether a file is the repository's own. */
function isOwn(file) {
  if (!own.has(file)) {
    const name = nameOf(file);
    const inside = path.relative(root, name);
    const isWithin = !inside.startsWith("..") && !path.isAbsolute(inside);
    own.set(file, path.isAbsolute(name) && isWithin && !/(?:^|[\\/])node_modules[\\/]/.test(inside));
  }
  return own.get(file);
}

/** Whether a file is the repository's own, and does not know of tests. */
const isSource = (file) => isOwn(file) && !knowing.has(nameOf(file));

/** The running functions by their files, the innermost first; `before` is what stands above each in the stack. */
function* running() {
  const text = String(stack.whole());
  FILE.lastIndex = 0;
  for (let found = FILE.exec(text); found; found = FILE.exec(text))
    if (path.dirname(found[1]) !== __dirname) yield { file: found[1], before: text.slice(0, found.index) };
}

/** The file of the innermost running function that is not ours. While a stack is made, V8 gives another one as text. */
function nearest() {
  const file = String(stack.nearest());
  if (file && !file.includes("\n")) return file;
  for (const one of running()) return one.file;
  return "";
}

/** Whether a source is running, and has called no other file but ours and those whose names match `through`. */
function isAskedBySource(through) {
  const file = nearest();
  if (!through || !through.test(file)) return isSource(file);
  for (const one of running()) if (!through.test(one.file)) return isSource(one.file);
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
  const frames = String(stack.whole()).split("\n").filter(function (line) {
    FILE.lastIndex = 0;
    const found = FILE.exec(`\n${line}`);
    return found && path.dirname(found[1]) !== __dirname && isSource(found[1]);
  });
  return [String(error)].concat(frames).join("\n");
}

module.exports = { root, former, tests, boxes, isSource, isAskedBySource, isAskedDirectly, isDoneBySource, ownStack };
