// Who asks, in a disguised run: whether the code that is running is a source, which must not know that tests run, or a
// test, a runner or a library. Beside this file is `askers.json`: the folder of the repository, the one that it was
// moved from, and its files that may know of tests. Written for any Node that runs tests.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const { root, former, files } = JSON.parse(fs.readFileSync(path.join(__dirname, "askers.json"), "utf8"));
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

/** Whether a file is the repository's own, and does not know of tests. */
function isSource(file) {
  const name = file.replace(/^file:\/\//, "").replace(/\?.*$/, "");
  const inside = path.relative(root, name);
  const own = !inside.startsWith("..") && !path.isAbsolute(inside) && !/(?:^|[\\/])node_modules[\\/]/.test(inside);
  return path.isAbsolute(name) && own && !knowing.has(name);
}

/** Whether a source is running, and has called no other file but ours and those whose names match `through`. While a
 * stack is made, V8 gives another one as text. */
function isAskedBySource(through) {
  const text = String(stack());
  FILE.lastIndex = 0;
  for (let found = FILE.exec(text); found; found = FILE.exec(text))
    if (path.dirname(found[1]) !== __dirname && !(through && through.test(found[1]))) return isSource(found[1]);
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

module.exports = { root, former, isSource, isAskedBySource, ownStack };
