// Watches properties that V8 would handle slowly if they were kept: those that loops call, and those that decide the
// class of a method's result. What sources assign to them is undone before anybody reads an element or calls a kept
// method of the sources' realm.
"use strict";
const { note } = require("./kept.cjs");
//: objects with methods that loops, spreads and string methods call; some have symbols as names
const OF_LOOPS = "Array.prototype String.prototype Map.prototype Set.prototype RegExp.prototype";
//: classes whose methods ask the constructor of an object for the class of their result
const OF_KINDS = ["Array", "Promise", "RegExp"];

const define = Object.defineProperty;
const described = Object.getOwnPropertyDescriptor;
const parentOf = Object.getPrototypeOf;
//: the watched properties: object, name, its property, its value, and whether they are in the realm of sources, of
//: which Jest makes one for each test file; and how to find out whether all of them are as before
let watched = [];
let isAsBefore = () => true;

/** The prototypes of a realm's iterators and generators, and what they inherit from. */
function iteratorsOf(world) {
  const made = world.Function("return [[][Symbol.iterator](), ''[Symbol.iterator](), new Map().keys(), new Set().keys()]")();
  const generators = parentOf(parentOf(world.Function("return (function* () {})()")()));
  return made.map(parentOf).concat(generators, parentOf(generators));
}

/** The objects of a realm whose methods loops call. */
const loopsOf = (world, at) => OF_LOOPS.split(" ").map(at).concat(iteratorsOf(world));

/** Watch a property. Sources cannot redefine it. */
function watch(owner, name, isOfSources) {
  const own = described(owner, name);
  if (!own || !own.configurable || typeof owner[name] !== "function") return;
  const place = { owner, name, own, value: owner[name], isOfSources };
  watched.push(place);
  const take = function (given) {
    restore();
    place.value = "value" in given ? given.value : given.get.call(owner);
    place.own = Object.assign({ configurable: true, enumerable: own.enumerable },
      given.get ? { get: given.get, set: own.set } : { value: place.value, writable: true });
    define(owner, name, place.own);
    isAsBefore = comparing();
  };
  note(owner, name, { enumerable: false, show: () => place.own, take });
}

/** Watch what loops call in a realm where keeping it would make loops up to 16 times as slow. */
function watchLoops(world, at) {
  loopsOf(world, at).forEach((owner) =>
    Object.getOwnPropertySymbols(owner).concat("next", "exec").forEach((name) => watch(owner, name)));
}

/** Watch which class the methods of a class use for their result. Keeping it in any realm would make the methods of
 * lists up to 7 times as slow in all realms, and those of regular expressions 4 times. */
function watchKinds(world, isOfSources) {
  OF_KINDS.map((name) => world[name]).forEach(function (type) {
    watch(type.prototype, "constructor", isOfSources);
    watch(type, Symbol.species, isOfSources);
  });
}

/** Watch a realm. What was watched in an earlier realm of sources is forgotten. */
function watchRealm(world, at, isOfSources) {
  if (isOfSources) watched = watched.filter((place) => !place.isOfSources);
  else watchLoops(world, at);
  watchKinds(world, isOfSources);
  isAsBefore = comparing();
}

/** Undo what sources assigned to watched properties, by which methods of lists work, too. */
function restore() {
  for (let at = 0; !isAsBefore() && at < watched.length; at++) {
    const { owner, name, own, value } = watched[at];
    if (owner[name] !== value) define(owner, name, own);
  }
}

/** Undo what sources assigned to watched properties before anybody calls a method. Returns the method. */
function restored(method) {
  restore();
  return method;
}

/** How to find out whether all watched properties are as before. Tests read elements so often that each comparison has
 * code of its own, which V8 can optimize: a loop takes ten times as long. */
function comparing() {
  const parts = watched.map((_, at) => `o${at}[n${at}] === v${at}`);
  const words = [].concat(...watched.map((_, at) => [`o${at}`, `n${at}`, `v${at}`]));
  const given = [].concat(...watched.map(({ owner, name, value }) => [owner, name, value]));
  return new Function(...words, `return () => ${parts.join(" && ") || true};`)(...given);
}

module.exports = { loopsOf, restore, restored, watchRealm };
