// Sees every process that Node starts while a repository tests, and stops at the test runner: its words, folder,
// variables and configuration are then known, whatever lies between. Written for Node 6 and later; loaded by `--require`.
//
// A11Y_PROBE holds, as JSON: `out`, the file to which a line of JSON is added for each find; `runners`, package -> runner;
// `tools`, packages whose programs are ended at once, since they test nothing. Not seen: a runner that is imported as an
// ES module in a process of its own making, and programs that are not Node's.
"use strict";
const marker = Symbol.for("a11y-bench.probe");
if (process.env.A11Y_PROBE && !global[marker]) {
  global[marker] = true;
  const fs = require("fs");
  const path = require("path");
  const Module = require("module");
  const settings = JSON.parse(process.env.A11Y_PROBE);
  const OURS = /^(?:npm_|A11Y_|INIT_CWD$|PATH$|Path$|NODE$|_$|PWD$|OLDPWD$|SHLVL$|HOME$|TMPDIR$|LANG$|CI$|HOSTNAME$|COLOR$|EDITOR$|PNPM_|YARN_|BERRY_|PROJECT_CWD$|NX_|LERNA_|TURBO|WIREIT_)/;

  const plain = (value, depth) => {
    if (value instanceof RegExp) return { regexp: value.source, flags: value.flags };
    if (value === null || ["string", "number", "boolean"].indexOf(typeof value) >= 0) return value;
    if (typeof value !== "object" || depth > 5) return undefined;
    if (Array.isArray(value)) return value.map((one) => plain(one, depth + 1)).filter((one) => one !== undefined);
    const out = {};
    Object.keys(value).forEach((key) => {
      const one = plain(value[key], depth + 1);
      if (one !== undefined) out[key] = one;
    });
    return out;
  };
  const options = (text) => (text || "").split(/\s+/).filter((word, at, all) =>
    word && word.indexOf("probe.cjs") < 0 && !(/^(?:-r|--require)$/.test(word) && (all[at + 1] || "").indexOf("probe.cjs") >= 0));
  const variables = () => {
    const env = {};
    Object.keys(process.env).filter((name) => !OURS.test(name)).forEach((name) => (env[name] = process.env[name]));
    const left = options(env.NODE_OPTIONS).join(" ");
    delete env.NODE_OPTIONS;
    return left ? Object.assign(env, { NODE_OPTIONS: left }) : env;
  };
  const flags = () => options(process.execArgv.join(" "));
  const tell = (found) =>
    fs.appendFileSync(settings.out, JSON.stringify(Object.assign({
      cwd: process.cwd(), env: variables(), node: flags(), script: process.argv[1] || "", args: process.argv.slice(2),
      task: process.env.npm_lifecycle_event || "",
    }, found)) + "\n");
  const stop = (found) => {
    tell(found);
    process.exit(0);
  };

  // -- a program of its own -------------------------------------------------------------------------------------------
  const real = (name) => {
    try { return fs.realpathSync(name); } catch (error) { return name; }
  };
  const owner = (file) => {
    for (let folder = path.dirname(file); folder !== path.dirname(folder); folder = path.dirname(folder))
      try {
        const name = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")).name;
        if (name) return name;
      } catch (error) { /* a folder without a package */ }
    return "";
  };
  const script = process.argv[1] ? real(path.resolve(process.argv[1])) : "";
  const inside = /[\\/]node_modules[\\/]/.test(script) ? owner(script) : "";
  if (settings.runners[inside]) stop({ runner: settings.runners[inside], words: process.argv.slice(2), how: "program" });
  if (settings.tools.indexOf(inside) >= 0) process.exit(0);
  if (process.execArgv.indexOf("--test") >= 0) stop({ runner: "node", words: process.argv.slice(1), how: "program" });

  // -- in this process ------------------------------------------------------------------------------------------------
  const watched = {
    mocha: (own) => watch(own, "run", (mocha) => ({ options: mocha.options, files: mocha.files })),
    jasmine: (own) => watch(own, "execute", (jasmine, args) => ({ options: { files: args[0] }, files: jasmine.specFiles })),
    jest: (own) => calls("jest", own), "jest-cli": (own) => calls("jest", own), "@jest/core": (own) => calls("jest", own),
  };
  // what a script loads before it tests, and would be lost with it
  const SETS_UP = /register|set-?up|jsdom-global|polyfill|test[-_]?(?:env|helper|bootstrap)/i;
  const required = [];
  const names = { mocha: "mocha", jasmine: "jasmine" };
  function watch(type, method, seen) {
    const own = type && (type.prototype ? type : type.default);
    if (!own || !own.prototype || !own.prototype[method] || own.prototype[method][marker]) return;
    const name = Object.keys(names).find((one) => watching === one);
    own.prototype[method] = function () {
      stop(Object.assign({ runner: name, how: "library", required }, plain(seen(this, arguments), 0)));
    };
    own.prototype[method][marker] = true;
  }
  // a module like `own`, whose functions that test are ours; newer releases seal theirs, so it is another object
  function calls(name, own) {
    if (!own || typeof own !== "object" || own[marker]) return own;
    const members = {};
    Object.getOwnPropertyNames(own).forEach((key) => (members[key] = Object.getOwnPropertyDescriptor(own, key)));
    for (const method of ["run", "runCLI"]) {
      if (!members[method]) continue;
      const instead = function (argv, projects) {
        const words = Array.isArray(argv) ? argv : [];
        stop({ runner: name, how: "library", words, options: plain(Array.isArray(argv) ? {} : argv || {}, 0), projects: plain(projects || [], 0) });
      };
      members[method] = { value: instead, configurable: true, enumerable: true, writable: true };
    }
    return Object.defineProperty(Object.create(Object.getPrototypeOf(own), members), marker, { value: true });
  }
  // every Karma reads its configuration before it starts, whatever program it is a part of (Angular's `ng test`)
  function reads(own) {
    own[marker] = true;
    own.parseConfig = (file) => stop({ runner: "karma", how: "library", required, options: { configFile: file } });
  }
  let watching = "";
  const load = Module._load;
  Module._load = function (request, parent) {
    const own = load.apply(this, arguments);
    if (/(?:^|[\\/])config(?:\.js)?$/.test(request) && own.parseConfig && own.createPatternObject && !own[marker]) reads(own);
    const from = (parent && parent.filename) || "";
    if (SETS_UP.test(request) && from && !/[\\/]node_modules[\\/]/.test(from)) {
      const name = /^\.{1,2}\//.test(request) ? path.resolve(path.dirname(from), request) : request;
      if (required.indexOf(name) < 0) required.push(name);
    }
    if (Object.prototype.hasOwnProperty.call(watched, request) || /node_modules[\\/](?:mocha|jasmine|jest|jest-cli)(?:[\\/](?:index|lib[\\/](?:mocha|jasmine))(?:\.js)?)?$/.test(request)) {
      const found = /(?:^|[\\/])(@jest[\\/]core|mocha|jasmine|jest-cli|jest)(?:[\\/](?:index|lib[\\/]\w+)(?:\.js)?)?$/.exec(request);
      watching = found ? found[1] : request;
      try { return watched[watching](own) || own; } catch (error) { /* another form than is known */ }
    }
    return own;
  };

  const children = require("child_process");
  ["spawn", "spawnSync", "execFile", "execFileSync", "exec", "execSync", "fork"].forEach((name) => {
    const before = children[name];
    const instead = function () {
      const given = Array.prototype.slice.call(arguments).map((one) => {
        if (!one || typeof one !== "object" || Array.isArray(one) || !one.env) return one;
        const env = {};
        for (const key in one.env) env[key] = one.env[key]; // like Node, also those of its prototype
        env.A11Y_PROBE = process.env.A11Y_PROBE;
        if ((env.NODE_OPTIONS || "").indexOf("probe.cjs") < 0) env.NODE_OPTIONS = ((env.NODE_OPTIONS || "") + " " + settings.option).trim();
        return Object.assign({}, one, { env });
      });
      return before.apply(this, given);
    };
    Object.getOwnPropertySymbols(before).forEach((one) => (instead[one] = before[one]));
    children[name] = instead;
  });
}
