// Which modules sources find in a disguised run: no packages for tests, none that only these brought along, and in a
// page, none of Node's that no bundler gives to a page, unless a source of the base loads it.
"use strict";
const fs = require("fs");
const path = require("path");
const { about } = require("./askers.cjs");
//: packages that tests alone use, also as folders of installed packages
const OF_TESTS = /^(?:@jest|@vitest|@testing-library|jest|vitest|mocha|chai|karma|jasmine|jsdom|happy-dom)(?![a-z0-9])/;
const INSTALLED = /^[^]*[\\/]node_modules[\\/](?:\.(?:bin|pnpm)[\\/])?/;
const OF_MANIFESTS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
const OF_PACKAGES = ["dependencies", "optionalDependencies", "peerDependencies"];

const { existsSync, readFileSync } = fs;
const alone = new Set(about.alone);
const folders = ["node_modules", "node_modules/.pnpm/node_modules"].map((name) => path.join(about.root, name));
//: the packages that those of the repository ask for, directly or not, without those for tests
let asked;
//: whether files are read here: before Node 10, its functions call each other by names that are hidden
let isReading = false;

/** Whether a name or a path is that of a package for tests. */
function isOfTests(name) {
  const isRelative = /^(?:\.|[\\/])/.test(name) && !INSTALLED.test(name);
  return !isRelative && OF_TESTS.test(name.replace(INSTALLED, ""));
}

/** The package of a manifest, and the names in these fields; nothing of one that cannot be read. */
function namesIn(file, fields) {
  let manifest;
  try {
    manifest = JSON.parse(readFileSync(file, "utf8")) || {};
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

/** Whether a package is installed that nothing but packages for tests asks for. */
function isBrought(name) {
  if (/^(?:\.|[\\/]|\w:)/.test(name) && !INSTALLED.test(name)) return false;
  const words = name.replace(INSTALLED, "").split(/[\\/]/);
  const own = words.slice(0, words[0].startsWith("@") ? 2 : 1).join("/");
  isReading = true;
  try {
    if (!folders.some((folder) => existsSync(path.join(folder, own, "package.json")))) return false;
    asked = asked || allAsked();
  } finally {
    isReading = false;
  }
  return !asked.has(own);
}

/** Whether sources do not find the module of this name. */
function isDenied(name, isPage) {
  return isOfTests(name) || (isPage && alone.has(name.replace(INSTALLED, "").replace(/^node:|\/.*$/g, ""))) || isBrought(name);
}

module.exports = { INSTALLED, isDenied, isOfTests, isReading: () => isReading };
