// Reports which files of the repository the processes of a test run load themselves (configuration, presets,
// transformers, set-up, reporters), and which file imports which. `--require` loads it into every process of the run;
// the runners' own `reads.*` add what Node itself does not load. Written for Node 6 and later.
//
// A11Y_READS is the path of a JSON file with settings: `out`, the file to which a line of JSON is appended for each
// find; `root`, the repository; `tests`, the files that run; `apart`, a pattern of programs that only run tests. These
// programs are not observed, and neither are threads. From 18.19 and 20.6 on, and before 22.15, Node's loader of ES modules
// has a thread, which loads this file as well. Not covered: ES modules in older Nodes, and programs other than Node.
"use strict";
const marker = Symbol.for("a11y-bench.reads");
if (process.env.A11Y_READS && !global[marker]) {
  const fs = require("fs");
  const path = require("path");
  const Module = require("module");
  const url = require("url");
  const settings = JSON.parse(fs.readFileSync(process.env.A11Y_READS, "utf8"));
  const append = fs.appendFileSync;
  const DATA = /\.(?:json[5c]?|ya?ml|toml)$|[\\/](?:\.[^\\/]+|[^.\\/]+)$/;

  const told = new Set();
  const tell = (kind, found) => {
    const line = JSON.stringify({ [kind]: found });
    if (told.has(line)) return;
    told.add(line);
    append(settings.out, line + "\n");
  };
  // the path from the root; empty for a file that is not the repository's own
  const inside = (file) => {
    const name = path.relative(settings.root, file || settings.root);
    const own = name && !path.isAbsolute(name) && name.split(path.sep).every((part) => part !== ".." && part !== "node_modules" && part !== ".git");
    return own ? name.split(path.sep).join("/") : "";
  };
  const tests = new Set(settings.tests);
  let started = false;
  const edge = (from, to) => {
    const [source, target] = [inside(from), inside(to)];
    if (source && target && source !== target) tell("edge", [source, target]);
  };
  const loaded = (file) => {
    const name = inside(file);
    if (tests.has(name)) started = true;
    else if (name) tell("loaded", name);
  };
  const note = (from, to) => (inside(from) ? edge(from, to) : loaded(to));
  const hooks = [];
  global[marker] = {
    edge,
    loaded,
    named: (text) => tell("named", text),
    mapped: (pattern, target) => tell("mapped", [String(pattern), target]),
    // a file that would be loaded in place of a package if it existed
    hiding: (file) => inside(file) && tell("hiding", inside(file)),
    when: (pattern, hook) => hooks.push([pattern, hook]),
    strings: function strings(value, depth) {
      if (typeof value === "string") return /\n/.test(value) || value.length > 500 ? [] : [value];
      if (!value || typeof value !== "object" || depth > 4) return [];
      return Object.keys(value).reduce((all, key) => all.concat(strings(value[key], (depth || 0) + 1)), []);
    },
  };

  const place = (address) => (/^file:/.test(address || "") ? url.fileURLToPath(address) : "");
  const noted = (context, found) => {
    note(place(context.parentURL), place(found.url));
    return found;
  };
  exports.resolve = (name, context, next) => next(name, context).then((found) => noted(context, found));

  const isThread = () => {
    try { return !require("worker_threads").isMainThread; } catch (error) { return false; }
  };
  const apart = isThread() || (settings.apart && new RegExp(settings.apart).test(process.argv[1] || ""));
  if (!apart) {
    const load = Module._load;
    Module._load = function (request, parent) {
      try { note(parent && parent.filename, Module._resolveFilename.apply(Module, arguments)); } catch (error) { /* no such file */ }
      const own = load.apply(this, arguments);
      hooks.forEach((one) => { if (one[0].test(request)) try { one[1](own); } catch (error) { /* its form is unknown */ } });
      return own;
    };
    if (Module.registerHooks)
      Module.registerHooks({ resolve: (name, context, next) => noted(context, next(name, context)) });
    else if (Module.register) Module.register(url.pathToFileURL(__filename));

    // data counts as configuration if a module that Node itself loaded reads it before the first test
    const reader = () => {
      const before = [Error.prepareStackTrace, Error.stackTraceLimit];
      Error.stackTraceLimit = 12;
      Error.prepareStackTrace = (error, frames) => frames;
      let frames = [];
      try { frames = new Error().stack; } finally { [Error.prepareStackTrace, Error.stackTraceLimit] = before; }
      const names = (Array.isArray(frames) ? frames : []).map((frame) => frame.getFileName() || "");
      return names.find((name) => name !== __filename && (path.isAbsolute(name) || /^file:/.test(name))) || "";
    };
    const read = (file) => {
      const name = typeof file === "string" ? path.resolve(file) : file && file.href ? place(file.href) : "";
      if (started || !name || !DATA.test(name) || !inside(name)) return;
      const by = reader();
      if (/^file:/.test(by) || Module._cache[by]) loaded(name);
    };
    const watch = (own, method) => {
      const before = own[method];
      own[method] = function (file) {
        try { read(file); } catch (error) { /* nothing is reported */ }
        return before.apply(this, arguments);
      };
    };
    watch(fs, "readFileSync");
    watch(fs, "readFile");
    if (fs.promises) watch(fs.promises, "readFile");
  }
}
