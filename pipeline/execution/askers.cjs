// Finds out who calls, in a disguised run: a source, which must not see that tests run, or a test, a runner or a library.
// `askers.json`, beside this file, holds the repository's folder (`root`), the folder that it was moved from (`former`),
// the runner's `cache`, the repository's `files` that may know of tests, its `tests` and its `manifests`, the modules that
// no page has and no source of the base loads (`alone`), whether elements have `boxes`, and the name of the `build` that
// only sources see, if any. Written for Node 8 and later; on older ones, no test can run in disguise.
"use strict";
const fs = require("fs");
const path = require("path");
const util = require("util");
const vm = require("vm");

if (parseInt(process.versions.node, 10) < 8) throw new Error("the disguise needs Node 8 or later");
const about = JSON.parse(fs.readFileSync(path.join(__dirname, "askers.json"), "utf8"));
const { root, former, files } = about;
const knowing = new Set();
[root].concat(former || []).forEach((home) => files.forEach((name) => knowing.add(path.join(home, name))));
const scratch = path.dirname(__dirname);
//: how the paths of our files begin
const OWN = __dirname + path.sep;
const INSTALLED = /(?:^|[\\/])node_modules[\\/]/;
const { existsSync, readFileSync, statSync } = fs;
const { toString: errorText } = Error.prototype;
const { apply } = Reflect;
//: whether something is a proxy: Node has `types` since version 10
const { getProxyDetails } = util.types ? {} : process.binding("util");
const isProxy = util.types ? util.types.isProxy : (value) => getProxyDetails(value) !== undefined;
const owns = Function.prototype.call.bind(Object.prototype.hasOwnProperty);
const started = Date.now();
//: runners' packages that load modules themselves
const LOADERS = /[\\/]node_modules[\\/](?:@jest|@vitest|jest|vite-node|vitest)(?![a-z0-9])/;
//: runners' packages that load no modules
const RUNNERS = /[\\/]node_modules[\\/](?:mocha|jasmine|karma|nyc|istanbul|c8|tinypool)(?![a-z0-9])/;
//: packages that know of tests, and so may read a runner's names while a source is behind them
const OF_TESTS =
  /[\\/]node_modules[\\/](?:@jest|@vitest|@testing-library|chai|enzyme|expect|jasmine|jest|mocha|sinon|@sinonjs|testdouble|tinyspy|vite-node|vitest)(?![a-z0-9])/;
//: libraries that make documents or match selectors for them
const OF_DOCUMENTS = /[\\/]node_modules[\\/](?:@asamuzakjp[\\/]dom-selector|happy-dom|jsdom|nwmatcher|nwsapi)[\\/]/;
//: lines of a stack for Node's functions that load modules, in all its versions
const LOADER = /\((?:node:)?(?:internal\/)?modules?(?:\/|\.js)/;
//: lines of a stack for functions in files, and for Node's functions
const FILE = /^\s+at (?:.*\()?((?:file:|[\\/]|\w:[\\/]).*?):\d+:\d+/;
const OF_NODE = /^\s+at (?:.*\()?(?:node:|internal\/|\w+\.js:)/;
//: the same anywhere in a stack
const INSIDE = /[\s(](?:node:|internal\/)|\(\w+\.js:/;
//: used in place of a file's path: for code that was created while tests run (in a frame or from a data URL) or that
//: nobody called, and for Node's own code
const MADE = "made", NODE = "node";
//: the same for code that a library or a test has evaluated: as a library, since a source can give others code to evaluate,
//: and can give code a name that looks like this
const EVALUATED = path.join(root, "node_modules", "evaluated", "index.js");
const EVALUATES = /\b(?:eval|Function|constructor)\b/;
//: the name of the functions that notice when others are running
const WITHIN = "noticed";
//: how many frames of the stack are read to find the caller, and to find who is behind it. A few frames are usually
//: enough, and reading all of them is slow: if FEW are not enough, MORE are read; and the same inside compilers
const SHALLOW = 50, FEW = 32, MORE = { [FEW]: 200, 200: 20000 };
const INNER = 64, MOST = 200;
//: how many characters before and after a frame's place may name the property that it reads
const NEAR = 40;
//: reads the stack, in a realm of its own, so that no other code can change how. `each` gives the file and the line of
//: each frame. `nearest` gives the file of the innermost frame outside this folder, among a few; `isLoading` then says
//: whether that frame made Node load a module, `isInside` whether it called Node at all, and `place` its line and column
//: in the file, from 1. `above` gives the file of the frame above the one of a function. These are called thousands of
//: times in a test, whenever code uses the document or a file, and each frame costs time. `within` gives the files from
//: the innermost frame to the outermost one of a function named WITHIN among so many frames, or null if there is none;
//: `many` says how many there are. Evaluated code with a name of its own counts as MADE; of other code, `makerOf` says
//: what it counts as. Functions of the language have no file, and those of Node that only look at what they are given
//: (HELPERS) have no line
const stack = vm.runInNewContext(`
  var isEach, isTold, isLoading, isInside, found, most, marked;
  var FILE = /^(?:file:|[\\\\/]|\\w:[\\\\/])/, NODE = /^(?:node:|internal\\/|\\w+\\.js$)/;
  var LOADER = /^(?:node:)?(?:internal\\/)?modules?(?:\\/|\\.js)/;
  var TASKS = /(?:^|[:/])(?:timers|events|next_tick|task_queues|event_target|async_hooks)(?:\\.js)?$/;
  var HELPERS = /(?:^|[:/])(?:util|inspect|comparisons|assert|assertion_error|timerify|querystring|url)(?:\\.js)?$/;
  var MAKER = /^[^]*\\(((?:file:|[\\\\/]|\\w:[\\\\/])[^]*?):(\\d+):(\\d+)\\)/;
  function fileOf(site) {
    if (site.isEval()) {
      var maker = site.getScriptNameOrSourceURL() ? null : MAKER.exec(String(site.getEvalOrigin()));
      return maker ? makerOf(maker[1], maker[2], maker[3]) : made;
    }
    var name = site.getFileName();
    if (!name || site.isNative()) return "";
    if (FILE.test(name)) return name;
    return NODE.test(name) ? (TASKS.test(name) ? "" : node) : made;
  }
  function each(sites) {
    return sites.map(function (site) {
      var file = fileOf(site), name = site.getFileName();
      var isPassedOver = (!file && TASKS.test(name)) || (file === node && HELPERS.test(name));
      return [file, (isTold || file === node) && !isPassedOver ? "\\n    at " + site : ""];
    });
  }
  function nearest(sites) {
    isLoading = isInside = false;
    found = null;
    for (var i = 0, isNode = false; i < sites.length; i++) {
      var file = fileOf(sites[i]);
      isInside = isInside || file === node || (!file && TASKS.test(sites[i].getFileName()));
      if (file === node) {
        isNode = true;
        isLoading = isLoading || LOADER.test(sites[i].getFileName());
      } else if (file && file.indexOf(folder) !== 0) {
        found = sites[i];
        return file;
      }
    }
    return sites.length < most ? (isNode ? node : made) : "";
  }
  function within(sites) {
    var all = [], last = "", end = -1;
    for (var i = 0; i < sites.length; i++) {
      var file = fileOf(sites[i]);
      if (file.indexOf(folder) === 0) {
        if (sites[i].getFunctionName() === marker) {
          end = all.length;
          marked++;
        }
      } else if (file && file !== node && file !== last) all[all.length] = last = file;
    }
    if (end < 0) return null;
    all.length = end;
    return all;
  }
  Error.prepareStackTrace = function (error, sites) {
    if (isEach === above) return sites.length ? fileOf(sites[0]) : "";
    return isEach === marker ? within(sites) : isEach ? each(sites) : nearest(sites);
  };
  function ask(all, lines, limit) {
    isEach = all;
    isTold = lines;
    Error.stackTraceLimit = most = limit;
    return new Error().stack;
  }
  function above(does) {
    isEach = above;
    Error.stackTraceLimit = 1;
    var holder = {};
    Error.captureStackTrace(holder, does);
    return holder.stack;
  }
  ({
    above: above,
    each: function (limit, lines) { return ask(true, lines, limit); },
    nearest: function () {
      isLoading = false;
      return ask(false, false, fewest) || ask(false, false, few);
    },
    within: function (limit) {
      marked = 0;
      return ask(marker, false, limit);
    },
    many: function () { return marked; },
    isLoading: function () { return isLoading; },
    isInside: function () { return isInside; },
    place: function () { return found && !found.isEval() ? [found.getLineNumber(), found.getColumnNumber()] : [0, 0]; },
    told: function (sites) {
      isTold = true;
      return each(sites);
    },
  });
`, { folder: OWN, made: MADE, makerOf, node: NODE, fewest: 10, few: 16, marker: WITHIN }, { filename: path.join(__dirname, "stack.js") });

//: the answers of `nameOf`, by file
const pathsOf = new Map();

/** The path of a file, of which stacks and bundlers may give an address, or the path with a query. A path with a question
 * mark is itself if there is such a file. */
function nameOf(file) {
  if (!file.includes("?") && !file.startsWith("file:")) return file;
  if (!pathsOf.has(file)) {
    const isPlain = !file.startsWith("file:") && exists(file);
    pathsOf.set(file, isPlain ? file : file.replace(/^file:\/\//, "").replace(/[?#].*$/, ""));
  }
  return pathsOf.get(file);
}

//: the answers of `isOwn`, by file
const own = new Map();

/** Whether a file is the repository's own or was created while tests run, and not part of a package or of Node. */
function isOwn(file) {
  if (!own.has(file)) {
    const name = nameOf(file);
    own.set(file, path.isAbsolute(name) ? isOwnFile(name) : file !== NODE);
  }
  return own.get(file);
}

function isOwnFile(name) {
  const isForeign = INSTALLED.test(path.relative(root, name));
  return !isWithin(name, scratch) && (!isForeign || isNew(name));
}

/** The first of an object and those above it that has a property itself: a window may have classes of its own. */
function ownerOf(object, name) {
  return !object || owns(object, name) ? object : ownerOf(Object.getPrototypeOf(object), name);
}

//: how many of the functions that are noticed are running
let active = 0;

/** Notices when functions are running: `within` wraps a function, and `isNow` says whether one of those is running. */
function noticing() {
  let depth = 0;
  const within = (real) =>
    function noticed() {
      depth++;
      active++;
      try {
        return apply(real, this, arguments);
      } finally {
        depth--;
        active--;
      }
    };
  return { isNow: () => depth > 0, within };
}

//: whether files are being read here: before Node 10, functions of `fs` call each other by names that we replace
const reading = noticing();
const readText = reading.within((name) => readFileSync(name, "utf8"));
const exists = reading.within(existsSync);
//: whether the runner is compiling a file
const compiling = noticing();

const isWithin = (name, folder) => `${name}${path.sep}`.startsWith(`${folder}${path.sep}`);

function isNew(name) {
  try {
    return statSync(name).ctime.getTime() > started;
  } catch (error) {
    return false; // it does not exist
  }
}

/** Whether a file is the repository's own and must not know of tests. */
const isSource = (file) => isOwn(file) && !knowing.has(nameOf(file));

/** Whether the runner is compiling a file, and no source is on the stack since it began: a source may give compilers a
 * function to call, such as one that all objects inherit. No source is behind what compilers do themselves. This reads
 * many frames, so other questions come first. */
function isCompiling() {
  if (!compiling.isNow()) return false;
  let files = stack.within(INNER);
  if (stack.many() < active) files = stack.within(MOST);
  if (!Array.isArray(files)) return false;
  for (let place = 0; place < files.length; place++) if (isSource(files[place])) return false;
  return true;
}

//: sources may replace what loops over values and destructuring call, so there are only loops that count here
/** Call `look` with the file of each frame, from the innermost one outwards, and the text of the frames above it, and
 * return its first answer that is not undefined. If no frame has a file, or there are more than `limit`, unknown code
 * is the last one. If there is no answer, return that of `end`, which gets the text of all frames. */
function running(limit, look, end = () => undefined) {
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
  if (limit in MORE && lines.length >= limit) return running(MORE[limit], look, end);
  return lines.length >= limit || !isCalled ? look(MADE, before) : end(before);
}

/** The file of each frame with its line; if `limit` is not SHALLOW, only frames of Node have lines. */
function frames(limit) {
  const found = stack.each(limit, limit === SHALLOW);
  return typeof found === "string" ? parsed(found) : found;
}

/** Whether this is the file of a frame that is not ours. */
const isCaller = (file) => file !== "" && path.dirname(file) !== __dirname;

/** The same for a stack as text, which V8 gives while it formats another one. */
function parsed(text) {
  return text.split("\n").map(function (line) {
    const found = FILE.exec(line);
    return [found ? found[1] : OF_NODE.test(line) ? NODE : "", `\n${line}`];
  });
}

/** The file of the innermost frame that is not ours. */
function nearest() {
  const file = `${stack.nearest()}`;
  return file && !file.includes("\n") ? file : running(FEW, (one) => one) || NODE;
}

/** Whether the innermost frame that is not ours is not a source's, and makes Node load a module. */
const isLoadedByLibrary = () => !isSource(nearest()) && stack.isLoading();

/** Whether a source calls us, directly or through files whose names match `through`. */
function isCalledBySource(through) {
  const file = nearest();
  if (!through || !through.test(file)) return isSource(file);
  if (isCompiling()) return false;
  return running(SHALLOW, (one) => (through.test(one) ? undefined : isSource(one))) === true;
}

/** Whether a source calls this function of ours: the answer is cheaper if it is not a source. */
function isAbove(does) {
  const file = `${stack.above(does)}`;
  const isUnknown = file === "" || file === NODE || file.includes("\n") || file.startsWith(OWN);
  return isUnknown || isSource(file) ? isCalledBySource() : false;
}

/** Whether a source calls us directly, and not through functions of Node whose lines in the stack match `own`. */
function isCalledDirectly(own) {
  if (!isCalledBySource()) return false; // the most frequent answer, and the cheapest
  return running(SHALLOW, (file, before) => isSource(file) && !own.test(before)) === true;
}

/** Whether a source uses this, and not Node on its behalf: it loads some global names only when they are used. */
const isUsedBySource = () => isCalledDirectly(INSIDE);

/** Whether a library reads a property, or calls a function, of this name for a source, as lodash's `get` does. A library
 * whose code has the name does so for itself. If neither a source nor a test is on the stack, a source may have given the
 * library to a promise or to the document. */
function isNamedBySource(name) {
  const file = nearest();
  if (file === NODE || isOwn(file) || isOfTools(file) || stack.isInside()) return false;
  if (isCompiling() || isNaming(file, String(name))) return false;
  const look = function (one, before) {
    if (isOfTools(one) || LOADER.test(before)) return false;
    return isOwn(one) ? isSource(one) : undefined;
  };
  return running(FEW, look) !== false;
}

/** Whether a source uses a property of this name, directly or as above, and not Node on its behalf. */
const isUsedForSource = (name) => isUsedBySource() || isNamedBySource(name);

/** Whether a source calls us directly, or by this name as above. */
const isAskedForSource = (name) => isCalledBySource() || isNamedBySource(name);

/** Whether this is a file of a test library, a runner or the document. */
const isOfTools = (file) => [OF_TESTS, OF_DOCUMENTS, LOADERS, RUNNERS].some((tools) => tools.test(file));

//: the answers of `isNaming`, by file, place and name; and the lines of files
const naming = new Map();
const linesOf = new Map();

/** Whether the innermost frame, which is in this file, is at a place whose text has this name. */
function isNaming(file, name) {
  const [line, column] = stack.place();
  const key = `${file}:${line}:${column}:${name}`;
  if (!naming.has(key)) naming.set(key, textAt(file, line, column).split(/[^\w$]+/).includes(name));
  return naming.get(key);
}

/** The text of a file around a place. */
const textAt = (file, line, column) =>
  (linesIn(nameOf(file))[line - 1] || "").slice(Math.max(0, column - NEAR), column + NEAR);

/** What evaluated code counts as that names this place as its origin. */
function makerOf(file, line, column) {
  if (isSource(file)) return file;
  return EVALUATES.test(textAt(file, Number(line), Number(column))) ? EVALUATED : MADE;
}

function linesIn(name) {
  if (!linesOf.has(name)) {
    try {
      linesOf.set(name, readText(name).split("\n"));
    } catch (error) {
      linesOf.set(name, []); // it is not a file
    }
  }
  return linesOf.get(name);
}

/** Whether a source gives something to an object: itself, or through a library that is not for tests or documents, which
 * frameworks do when no source is on the stack any more. */
function isGivenBySource() {
  const file = nearest();
  return isOwn(file) ? isSource(file) : !isOfTools(file) && !isCompiling();
}

/** Whether a test or a library for tests calls us, directly or through files whose names match `through`. */
function isCalledByTest(through) {
  const asked = running(FEW, (file) => (through.test(file) ? undefined : file));
  return asked !== undefined && (isOwn(asked) ? !isSource(asked) : isOfTools(asked));
}

/** Whether a test library, a runner or the document calls us directly. */
const isCalledByTool = () => isOfTools(nearest());

/** Whether the code of a source's file uses this, and nothing of Node on its behalf. */
function isReadBySource() {
  const file = nearest();
  return file !== MADE && !stack.isInside() && isSource(file);
}

/** Whether a source calls us, directly or through libraries. If neither a source nor a test or tool is on the stack, and
 * nothing loads a module, a source may have given Node or a library a function to call. */
function isDoneForSource() {
  if (isCompiling()) return false;
  let isOfTool = false;
  const look = function (file) {
    isOfTool = isOfTool || isOfTools(file);
    return isOwn(file) ? isSource(file) : undefined;
  };
  return running(FEW, look, (all) => !isOfTool && !LOADER.test(all)) === true;
}

/** Whether a source is on the stack, and no test or tool of the repository's own before it. */
const isBehind = () => running(FEW, (file) => (isOwn(file) ? isSource(file) : undefined)) === true;

/** The same, except through libraries for tests or files that match `own`: whether a source asks for what only these may
 * know. */
function isReadForSource(own) {
  const file = nearest();
  if (isOwn(file)) return isSource(file);
  if (OF_TESTS.test(file) || (own && own.test(file)) || isCompiling()) return false;
  return file === NODE || isBehind(); // Node calls a function of the language that a source gave it
}

/** Whether a source is behind a call, directly or through libraries, and no runner that loads modules is in between;
 * with `isLoading`, Node's own loading of modules counts like a runner's. If only libraries are on the stack, a source may
 * have given them a function to call: the answer is then `isOfNobody`, unless one of them belongs to a runner. */
function isOnBehalfOfSource(isLoading, isOfNobody) {
  if (LOADERS.test(nearest()) || (isLoading && stack.isLoading())) return false; // the most frequent case
  if (isCompiling()) return false;
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

/** The first line of a stack, without calling methods of the error. */
function headOf(error) {
  try {
    return Reflect.apply(errorText, error, []);
  } catch (failure) {
    return "Error";
  }
}

/** A stack as sources may see it. Frames of others are one line without a file, since code may look for its caller. */
function written(error, lines) {
  let told = headOf(error);
  let isHiding = false;
  for (let place = 0; place < lines.length; place++) {
    const file = lines[place][0];
    if (!isCaller(file)) continue;
    const isShown = isSource(file);
    if (isShown || !isHiding) told += isShown ? lines[place][1] : "\n    at <anonymous>:1:1";
    isHiding = !isShown;
  }
  return told;
}

/** The stack of whoever asks, as sources may see it. */
const ownStack = (error) => written(error, frames(SHALLOW));

/** The stack of an error that a source causes, as sources may see it; nothing for other errors. */
function stackOf(error, sites) {
  const lines = stack.told(sites);
  for (let place = 0; place < lines.length; place++) {
    const file = lines[place][0];
    if (isCaller(file) && isOwn(file)) return isSource(file) ? written(error, lines) : undefined;
  }
  return undefined;
}

module.exports = {
  LOADER, OF_DOCUMENTS, about, compiling, headOf, isAbove, isSource, isCalledBySource, isCalledByTest, isCalledByTool,
  isCalledDirectly,
  isAskedForSource, isDoneForSource, isCompiling, isGivenBySource, isLoadedByLibrary, isOnBehalfOfSource, isReadBySource,
  isProxy, isReadForSource, isUsedForSource, nameOf, noticing, ownStack, ownerOf, readText, reading, stackOf,
};
