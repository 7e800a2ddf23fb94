// Which files exist in a disguised run. Tests that have begun exist for nobody; whatever else reveals that tests run
// exists for everyone but sources. Loaded once in each process.
"use strict";
const { Buffer } = require("buffer");
const fs = require("fs");
const path = require("path");
const { URL, fileURLToPath } = require("url");
const { about, isCalledBySource, isCompiling, isOnBehalfOfSource, isLoadedByLibrary } = require("./askers.cjs");
const { INSTALLED, isOfTests, isReading } = require("./modules.cjs");
//: gives the name of the class of typed arrays, and nothing for other values
const { get: kindOf } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
//: functions that take two paths
const OF_PAIRS = /^(?:copyFile|cp|link|rename|symlink)(?:Sync)?$/;
//: streams, also by their names before Node 12
const STREAMS = ["ReadStream", "WriteStream", "FileReadStream", "FileWriteStream"];

const { root, former, tests, cache } = about;
const scratch = path.dirname(__dirname);
//: the path of a file after all symbolic links
const realpath = fs.realpathSync.native || fs.realpathSync;
//: handles of open files, which Node takes in place of a path
const handles = new WeakSet();
//: all tests, those that have begun, and the latter without their extensions
const stored = new Set(tests.map((name) => path.join(root, name)));
const hidden = new Set();
const begun = new Set();

const isWithinRoot = (name) => `${name}${path.sep}`.startsWith(`${root}${path.sep}`);
const isWithin = (name, folder) => `${name}${path.sep}`.startsWith(`${folder}${path.sep}`) && !isWithinRoot(name);

/** Hide a test that begins. */
function hide(file) {
  hidden.add(file);
  begun.add(file.replace(/\.[^./\\]+$/, ""));
}

/** Whether this is the path of a test; of one that has begun, also without its extension, as imports may name it. */
const isTest = (file) => [file, `${file}.js`].some((one) => hidden.has(one) || stored.has(one)) || begun.has(file);

/** Whether a folder holds a test. */
const isOverTest = (name) => Array.from(stored).some((one) => one.startsWith(`${name}${path.sep}`));

/** Whether a file is in our folder, in the runner's cache (which holds tests), in the folder that the repository was
 * moved from, or in a package for tests. */
function isRevealing(name) {
  const isFormer = former && isWithin(name, former) && !INSTALLED.test(`${name}${path.sep}`);
  return isWithin(name, scratch) || (cache && isWithin(name, cache)) || isFormer || isOfTests(name);
}

/** Whether a file does not exist for whoever asks now. For sources in a page, no file exists. */
function isHiddenFile(name, isPage) {
  if (INSTALLED.test(name) && isLoadedByLibrary()) return false; // the most frequent question, and the cheapest to answer
  if (isCompiling()) return hidden.has(name);
  if (isReading()) return false;
  let file = name;
  try {
    file = realpath(name);
  } catch (error) {
    // it does not exist
  }
  if (hidden.has(name) || hidden.has(file) || /^\/proc(?:\/|$)/.test(file)) return true;
  if ([name, file].some(isRevealing)) return isCalledBySource() || isOnBehalfOfSource(true);
  const isOfTest = stored.has(name) || stored.has(file);
  const isLoadable = !isOfTest && (isWithinRoot(file) || INSTALLED.test(file));
  return (isPage || isOfTest) && isOnBehalfOfSource(isLoadable, isPage);
}

/** A path as text, as Node would read it, because an object of a source could give another path when Node reads it.
 * What is no path stays the same, or becomes an object that Node refuses as well. */
function pathOf(file) {
  if (Object(file) !== file || handles.has(file)) return file;
  if (kindOf.call(file) === "Uint8Array") return Buffer.from(new Uint8Array(file)).toString();
  const address = file.href;
  if (typeof address !== "string") return {};
  try {
    const url = new URL(address);
    return fileURLToPath ? fileURLToPath(url) : decodeURIComponent(url.pathname);
  } catch (error) {
    return {};
  }
}

/** Remember the handles that Node gives. */
function keepHandles() {
  const { open } = fs.promises || {};
  if (!open) return;
  fs.promises.open = function () {
    return open.apply(this, arguments).then(function (handle) {
      handles.add(handle);
      return handle;
    });
  };
}

/** Streams open their file later, by the path that they have then: a source cannot change it. */
function hideStreams(elsewhere) {
  const settled = function (stream) {
    const kept = { configurable: false, enumerable: true, value: stream.path, writable: false };
    if (isOnBehalfOfSource()) Object.defineProperty(stream, "path", kept);
    return stream;
  };
  STREAMS.forEach(function (name) {
    const real = fs[name];
    const given = function (file, ...words) {
      const type = new.target === given ? real : new.target;
      if (type) return settled(Reflect.construct(real, [elsewhere(file), ...words], type));
      return settled(real.call(this, elsewhere(file), ...words) || this);
    };
    given.prototype = real.prototype;
    fs[name] = Object.setPrototypeOf(given, real);
  });
  ["createReadStream", "createWriteStream"].forEach(function (name) {
    const real = fs[name];
    fs[name] = function () {
      return settled(real.apply(this, arguments));
    };
  });
}

/** Every function of `fs` takes a hidden file for one that does not exist. */
function hidePaths(elsewhere) {
  const passing = function (real, method) {
    const isOfTwo = OF_PAIRS.test(method);
    const given = Object.assign(function (file, ...words) {
      if (isOfTwo) words[0] = elsewhere(words[0], true);
      return real.call(this, elsewhere(file, isOfTwo), ...words);
    }, real);
    if (real.native) given.native = passing(real.native, method);
    return given;
  };
  [fs, fs.promises].forEach(function (owner) {
    Object.keys(owner || {}).forEach(function (name) {
      if (/^[a-z]/.test(name) && typeof owner[name] === "function") owner[name] = passing(owner[name], name);
    });
  });
}

/** Folders do not list hidden tests, nor any tests and packages for tests to sources. */
function hideEntries() {
  const shown = function (folder) {
    const isForSource = isCalledBySource();
    const isHidden = (name) => hidden.has(name) || ((stored.has(name) || isOfTests(name)) && isForSource);
    return (all) => all.filter((one) => !isHidden(path.resolve(String(folder), String(one.name || one))));
  };
  const { readdir, readdirSync } = fs;
  fs.readdirSync = function (folder) {
    return shown(folder)(readdirSync.apply(this, arguments));
  };
  fs.readdir = function (folder, ...words) {
    const [done, given] = [words.pop(), shown(folder)];
    const told = (error, all) => (error ? done(error) : done(error, given(all)));
    return readdir.call(this, folder, ...words, typeof done === "function" ? told : done);
  };
  const { promises } = fs;
  if (!promises || !promises.readdir) return;
  const later = promises.readdir;
  promises.readdir = function (folder) {
    return later.apply(this, arguments).then(shown(folder));
  };
}

/** Hide files from everything that takes a path. `isPage` says whether sources are in a page. */
function hideFiles(isPage) {
  const elsewhere = function (file, isMoving) {
    const told = pathOf(file);
    if (typeof told !== "string") return told;
    const name = path.resolve(told);
    return isHiddenFile(name, isPage()) || (isMoving && isOverTest(name) && isOnBehalfOfSource()) ? `${name}~` : told;
  };
  keepHandles();
  hideStreams(elsewhere);
  hidePaths(elsewhere);
  hideEntries();
  const { syncBuiltinESMExports } = require("module");
  if (syncBuiltinESMExports) syncBuiltinESMExports();
}

module.exports = { hidden, hide, hideFiles, isHiddenFile, isTest, isWithin, isWithinRoot, scratch };
