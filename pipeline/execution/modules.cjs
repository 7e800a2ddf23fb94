// Decides which modules sources can load in a disguised run: no test packages, and no packages that only test packages
// depend on. In a page, they also find none of Node's modules that no bundler provides for browsers, except those that
// a source of the base loads.
"use strict";
const fs = require("fs");
const path = require("path");
const { about, readText, reading } = require("./askers.cjs");
//: packages that only tests use, as names or as folders of installed packages: these with all whose names go on with
//: another word, and those by their whole names
const OF_TESTS = new RegExp(
  "^(?:@cypress|@jest|@playwright|@vitest|(?:@[\\w-]+/)?(?:\\w+-)*testing-library|@testing-library|@emotion/jest|" +
  "@open-wc/testing|@storybook/(?:jest|test(?:ing-\\w+)?)|@vue/test-utils|@web/test-runner|@\\w+/enzyme|" +
  "@(?:angular|stencil)/(?:\\w+/)?testing|(?:babel|ts)-jest|chai|cypress|enzyme|happy-dom|jasmine|jest|jsdom|karma|" +
  "mocha|playwright|p?react(?:-dom)?/(?:cjs/react-dom-)?test-utils|power-assert|puppeteer|react-test-renderer|" +
  "sinon-chai|testdouble|unexpected|vitest)(?![a-z0-9])",
);
const BY_WHOLE_NAMES = /^(?:ava|expect(?:\.js)?|qunit|should|tape|uvu)(?:[\\/]|$)/;
const INSTALLED = /^[^]*[\\/]node_modules[\\/](?:\.(?:bin|pnpm)[\\/])?/;
//: what may surround a module's name: how Vite writes names and paths, the protocol of a path, and a query
const OF_BUNDLERS = /^\/@id\/(?:__x00__)?|^(?:\/@fs|file:\/\/)(?=\/)|(?!^)[?#].*$/g;
const OF_MANIFESTS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
const OF_PACKAGES = ["dependencies", "optionalDependencies", "peerDependencies"];

const exists = reading.within(fs.existsSync);
const realpath = reading.within(fs.realpathSync.native || fs.realpathSync);
const alone = new Set(about.alone);
const folders = ["node_modules", "node_modules/.pnpm/node_modules"].map((name) => path.join(about.root, name));
//: the packages that the repository depends on, directly or indirectly, except through test packages
let asked;

/** Whether a name or a path belongs to a test package. */
function isOfTests(name) {
  const isRelative = /^(?:\.|[\\/])/.test(name) && !INSTALLED.test(name);
  const own = isRelative ? "" : name.replace(INSTALLED, "");
  return OF_TESTS.test(own) || BY_WHOLE_NAMES.test(own);
}

/** The name in a manifest, and the package names in these fields; empty for a manifest that cannot be read. */
function namesIn(file, fields) {
  let manifest;
  try {
    manifest = JSON.parse(readText(file)) || {};
  } catch (error) {
    return [];
  }
  return [].concat.apply(manifest.name ? [manifest.name] : [], fields.map((field) => Object.keys(manifest[field] || {})));
}

function allAsked() {
  const found = new Set();
  const waiting = [].concat.apply([], about.manifests.map((name) => namesIn(path.join(about.root, name), OF_MANIFESTS)));
  while (waiting.length) {
    const name = waiting.pop();
    if (found.has(name) || isOfTests(name)) continue;
    found.add(name);
    folders.forEach((folder) => waiting.push(...namesIn(path.join(folder, name, "package.json"), OF_PACKAGES)));
  }
  return found;
}

/** The name of the package, or of Node's module, to which the name or path of a module belongs. */
function packageOf(name) {
  const words = name.replace(INSTALLED, "").replace(/^node:/, "").split(/[\\/]/);
  return words.slice(0, words[0].startsWith("@") ? 2 : 1).join("/");
}

/** Whether a package is installed only because test packages depend on it. */
function isBrought(name) {
  if (/^(?:\.|[\\/]|\w:)/.test(name) && !INSTALLED.test(name)) return false;
  const own = packageOf(name);
  if (!folders.some((folder) => exists(path.join(folder, own, "package.json")))) return false;
  asked = asked || allAsked();
  return !asked.has(own);
}

/** The name of a module without detours, and without what a bundler puts before and after it. */
function plainOf(name) {
  const own = name.replace(OF_BUNDLERS, "");
  const plain = path.posix.normalize(own);
  return /^\.\.?\//.test(own) && !/^\.\.?(?:\/|$)/.test(plain) ? `./${plain}` : plain;
}

/** Whether sources cannot load the module of this name. */
function isDenied(name, isPage) {
  const own = plainOf(String(name));
  return isOfTests(own) || (isPage && alone.has(packageOf(own))) || isBrought(own);
}

/** Whether sources cannot load the file to which the name of a module leads. If that is a package's name, it was asked
 * already whether others bring the package, whose folder may have another name. */
function isDeniedFile(name, file, isPage) {
  if (!path.isAbsolute(file)) return false;
  const real = realOf(file);
  return isOfTests(real) || (/^[./]/.test(plainOf(String(name))) && isDenied(real, isPage));
}

/** The path of a file after all symbolic links. */
function realOf(file) {
  try {
    return realpath(file);
  } catch (error) {
    return file; // it does not exist
  }
}

module.exports = { INSTALLED, isDenied, isDeniedFile, isOfTests, isReading: reading.isNow, realOf };
