// Who asks, in a disguised run: whether the code that is running is a source, which must not know that tests run, or a
// test, a runner or a library. Beside this file is `askers.json`: the folder of the repository, the one that it was
// moved from, the runner's cache, its files that may know of tests, its tests, its manifests, the modules of Node that no
// source of the base loads and no page has, and whether elements have boxes. Written for any Node that runs tests.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const about = JSON.parse(fs.readFileSync(path.join(__dirname, "askers.json"), "utf8"));
const { root, former, files } = about;
const knowing = new Set(files.map((name) => path.join(root, name)));
const scratch = path.dirname(__dirname);
const INSTALLED = /(?:^|[\\/])node_modules[\\/]/;
const { statSync } = fs;
const started = Date.now();
//: runners' packages that load modules by themselves
const LOADERS = /[\\/]node_modules[\\/](?:@jest|@vitest|jest|vite-node|vitest)(?![a-z0-9])/;
//: packages of runners that load none
const RUNNERS = /[\\/]node_modules[\\/](?:mocha|jasmine|karma|nyc|istanbul|c8|tinypool)(?![a-z0-9])/;
//: lines of Node's own functions that load modules, in its versions
const LOADER = /\((?:node:)?(?:internal\/)?modules?(?:\/|\.js)/;
//: lines of a stack: of files, and of Node's own functions
const FILE = /^\s+at (?:.*\()?((?:file:|[\\/]|\w:[\\/]).*?):\d+:\d+/;
const OF_NODE = /^\s+at (?:.*\()?(?:node:|internal\/|\w+\.js:)/;
//: what stands for the file of code that was made while tests run, by a frame or a data URL, and of code that nobody
//: called; and for that of Node
const MADE = "made", NODE = "node";
//: how many running functions are looked at to find who calls, and to find who began it: reading all of a stack costs
//: much, and a few usually tell
const SHALLOW = 50, FEW = 32, MORE = { [FEW]: 200, 200: 20000 };
//: the running functions, from a realm of its own, so that nobody else changes it. `each` are their files with their
//: lines in a stack; `nearest` is the file of the innermost one that is not of this folder, among a few, and `isLoading`
//: whether that one has Node load a module. These two are asked whenever a document is, or a file, thousands of times in
//: a test. Code made of text is of the file that made it, whatever it calls itself; functions of the language have no file
const stack = vm.runInNewContext(`
  var isEach, isTold, isLoading;
  var FILE = /^(?:file:|[\\\\/]|\\w:[\\\\/])/, NODE = /^(?:node:|internal\\/|\\w+\\.js$)/;
  var LOADER = /^(?:node:)?(?:internal\\/)?modules?(?:\\/|\\.js)/;
  var TASKS = /(?:^|[:/])(?:timers|events|next_tick|task_queues|event_target|async_hooks)(?:\\.js)?$/;
  var MAKER = /^[^]*\\(((?:file:|[\\\\/]|\\w:[\\\\/])[^]*?):\\d+:\\d+\\)/;
  function fileOf(site) {
    if (site.isEval()) {
      var maker = MAKER.exec(String(site.getEvalOrigin()));
      return maker ? maker[1] : made;
    }
    var name = site.getFileName();
    if (!name || site.isNative()) return "";
    if (FILE.test(name)) return name;
    return NODE.test(name) ? (TASKS.test(name) ? "" : node) : made;
  }
  function each(sites) {
    return sites.map(function (site) {
      var file = fileOf(site), isTask = !file && TASKS.test(site.getFileName());
      return [file, (isTold || file === node) && !isTask ? "\\n    at " + site : ""];
    });
  }
  function nearest(sites) {
    isLoading = false;
    for (var i = 0, isNode = false; i < sites.length; i++) {
      var file = fileOf(sites[i]);
      if (file === node) {
        isNode = true;
        isLoading = isLoading || LOADER.test(sites[i].getFileName());
      } else if (file && file.indexOf(folder) !== 0) return file;
    }
    return sites.length < few ? (isNode ? node : made) : "";
  }
  Error.prepareStackTrace = function (error, sites) { return isEach ? each(sites) : nearest(sites); };
  function ask(all, lines, limit) {
    isEach = all;
    isTold = lines;
    Error.stackTraceLimit = limit;
    return new Error().stack;
  }
  ({
    each: function (limit, lines) { return ask(true, lines, limit); },
    nearest: function () {
      isLoading = false;
      return ask(false, false, few);
    },
    isLoading: function () { return isLoading; },
  });
`, { folder: __dirname + path.sep, made: MADE, node: NODE, few: 16 }, { filename: path.join(__dirname, "stack.js") });

const nameOf = (file) => file.replace(/^file:\/\//, "").replace(/\?.*$/, "");
//: answers of `isOwn`
const own = new Map();

/** Whether a file is the repository's own, or was made while tests run. Installed packages and Node's files are not. */
function isOwn(file) {
  if (!own.has(file)) {
    const name = nameOf(file);
    const isForeign = INSTALLED.test(path.relative(root, name)) || (former && isWithin(name, former));
    const isNobodys = file === NODE || isWithin(name, scratch);
    own.set(file, file === MADE || (!isNobodys && (!isForeign || isNew(name))));
  }
  return own.get(file);
}

const isWithin = (name, folder) => `${name}${path.sep}`.startsWith(`${folder}${path.sep}`);

function isNew(name) {
  try {
    return statSync(name).ctime.getTime() > started;
  } catch (error) {
    return false; // it is not on the disk
  }
}

/** Whether a file is the repository's own, and does not know of tests. */
const isSource = (file) => isOwn(file) && !knowing.has(nameOf(file));

//: sources may change what loops and destructuring call, so here are none but those that count
/** What `look` tells of the first running function of which it tells anything, by its file and all that stands above it
 * in the stack, the innermost first; then, if none of them has a file, of who is running. */
function running(limit, look) {
  const lines = frames(limit);
  let before = "";
  let isCalled = false;
  for (let place = 0; place < lines.length; place++) {
    const file = lines[place][0];
    if (isCaller(file)) {
      isCalled = true;
      const told = file === NODE ? undefined : look(file, before);
      if (told !== undefined) return told;
    }
    before += lines[place][1];
  }
  if (limit in MORE && lines.length >= limit) return running(MORE[limit], look);
  return lines.length >= limit || !isCalled ? look(MADE, before) : undefined;
}

/** The files of so many running functions, with their lines where they are few, and otherwise with those of Node. */
function frames(limit) {
  const found = stack.each(limit, limit === SHALLOW);
  return typeof found === "string" ? parsed(found) : found;
}

/** Whether this is the file of a function that is not ours. */
const isCaller = (file) => file !== "" && path.dirname(file) !== __dirname;

/** The same of a stack that V8 gives as text, which it does while another one is made. */
function parsed(text) {
  return text.split("\n").map(function (line) {
    const found = FILE.exec(line);
    return [found ? found[1] : OF_NODE.test(line) ? NODE : "", `\n${line}`];
  });
}

/** The file of the innermost running function that is not ours. */
function nearest() {
  const file = `${stack.nearest()}`;
  return file && !file.includes("\n") ? file : running(FEW, (one) => one) || NODE;
}

/** Whether the innermost running function that is not ours is a library's, and has Node load a module. */
function isLoadedByLibrary() {
  const file = nearest();
  return stack.isLoading() && !isSource(file);
}

/** Whether a source is running, and has called no other file but ours and those whose names match `through`. */
function isAskedBySource(through) {
  const file = nearest();
  if (!through || !through.test(file)) return isSource(file);
  return running(SHALLOW, (one) => (through.test(one) ? undefined : isSource(one))) === true;
}

/** The same, unless it has called functions of Node whose lines in the stack match `own`. */
function isAskedDirectly(own) {
  if (!isAskedBySource()) return false; // most of them, and this costs least
  return running(SHALLOW, (file, before) => isSource(file) && !own.test(before)) === true;
}

/** Whether a source is running, itself or by a library that it has called. */
function isDoneBySource() {
  return running(FEW, (file) => (isOwn(file) ? isSource(file) : undefined)) === true;
}

/** Whether a source has this done, itself or by a library that it has called. What loads modules does so for nobody,
 * if that is what `isLoading`. Where only libraries run, a source may have left them a function to call; `isOfNobody`
 * is what is told then, unless one of them is a runner. */
function isHadDoneBySource(isLoading, isOfNobody) {
  if (LOADERS.test(nearest()) || (isLoading && stack.isLoading())) return false; // most of them, and this costs least
  let isOfLibrary = false;
  let isOfRunner = false;
  const look = function (file, before) {
    if (LOADERS.test(file) || (isLoading && LOADER.test(before))) return false;
    if (isOwn(file)) return isSource(file);
    isOfLibrary = true;
    isOfRunner = isOfRunner || RUNNERS.test(file);
    return undefined;
  };
  const told = running(FEW, look);
  return told === undefined ? Boolean(isOfNobody) && isOfLibrary && !isOfRunner : told;
}

/** A stack as sources may see it: of the functions that are running, those of sources. */
function ownStack(error) {
  const lines = frames(SHALLOW);
  let told = `${error}`;
  for (let place = 0; place < lines.length; place++) {
    const file = lines[place][0];
    if (isCaller(file) && isSource(file)) told += lines[place][1];
  }
  return told;
}

module.exports = {
  LOADER, about, isSource, isAskedBySource, isAskedDirectly, isDoneBySource, isHadDoneBySource, isLoadedByLibrary, ownStack,
};
