// Decides which modules sources can load in a disguised run: no test packages, and no packages that only test packages
// depend on. In a page, they also find none of Node's modules that no bundler provides for browsers, except those that
// a source of the base loads.
"use strict";
const fs = require("fs");
const path = require("path");
const { about, readText, reading } = require("./askers.cjs");
//: packages that only tests use, as names or as folders of installed packages
const OF_TESTS = new RegExp(
  "^(?:@jest|@vitest|@testing-library|@open-wc/testing|@storybook/(?:jest|test(?:ing-library)?)|@vue/test-utils|@\\w+/enzyme|" +
  "@(?:angular|stencil)/(?:\\w+/)?testing|chai|cypress|enzyme|happy-dom|jasmine|jest|jsdom|karma|mocha|playwright|" +
  "p?react(?:-dom)?/(?:cjs/react-dom-)?test-utils|puppeteer|react-test-renderer|testdouble|vitest)(?![a-z0-9])",
);
const INSTALLED = /^[^]*[\\/]node_modules[\\/](?:\.(?:bin|pnpm)[\\/])?/;
const OF_MANIFESTS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
const OF_PACKAGES = ["dependencies", "optionalDependencies", "peerDependencies"];

const exists = reading.within(fs.existsSync);
const alone = new Set(about.alone);
const folders = ["node_modules", "node_modules/.pnpm/node_modules"].map((name) => path.join(about.root, name));
//: the packages that the repository depends on, directly or indirectly, except through test packages
let asked;

/** Whether a name or a path belongs to a test package. */
function isOfTests(name) {
  const isRelative = /^(?:\.|[\\/])/.test(name) && !INSTALLED.test(name);
  return !isRelative && OF_TESTS.test(name.replace(INSTALLED, ""));
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

/** Whether sources cannot load the module of this name. */
function isDenied(name, isPage) {
  return isOfTests(name) || (isPage && alone.has(packageOf(name))) || isBrought(name);
}

module.exports = { INSTALLED, isDenied, isOfTests, isReading: reading.isNow };
