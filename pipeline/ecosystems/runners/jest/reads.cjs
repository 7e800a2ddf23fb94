// Reports the set-up of Jest's tests, and which module imports which in Jest's own module registry, which Node does not
// see. Loaded after `execution/reads.cjs`, which writes the reports.
"use strict";
const path = require("path");
const reads = global[Symbol.for("a11y-bench.reads")];
// options that say where tested files are, or that name no files; and aliases, which are reported separately
const OTHERS = /^(?:cwd|id|rootDir|roots|cacheDirectory|coverage.*|collect.*|.*IgnorePatterns|module(?:Directories|FileExtensions|Paths|NameMapper)|test(?:Match|Regex|URL)|forceCoverageMatch|extensionsToTreatAsEsm|displayName|unmockedModulePathPatterns)$/;
if (reads)
  reads.when(/(?:^|[\\/])jest-runtime(?:[\\/]build[\\/]index(?:\.js)?)?$/, (own) => {
    const type = own.default || own;
    const before = type.prototype.requireModuleOrMock;
    if (!before || before.isReading) return;
    const known = new Set();
    function configured(config) {
      if (!config || known.has(config)) return;
      known.add(config);
      const keys = Object.keys(config).filter((key) => !OTHERS.test(key));
      keys.forEach((key) => reads.strings(config[key]).forEach(reads.named));
      for (const [pattern, targets] of config.moduleNameMapper || [])
        [].concat(targets).forEach((target) => reads.mapped(pattern, target));
    }
    function resolved(runtime, from, name) {
      let mapped = null;
      try { mapped = runtime._resolver.getMockModule(from, name); } catch (error) { /* nothing is mapped */ }
      if (mapped) return mapped;
      if (runtime._resolveCjsModule) return runtime._resolveCjsModule(from, name);
      return runtime._resolveModule ? runtime._resolveModule(from, name) : runtime._resolver.resolveModule(from, name);
    }
    // files that would be loaded in place of a package: a relative folder of modules is searched at each level
    function hidden(config, from, name, file) {
      const folders = (config.moduleDirectories || []).filter((one) => one !== "node_modules");
      if (!folders.length || /^[.\\/]/.test(name) || !/[\\/]node_modules[\\/]/.test(file)) return;
      for (let level = path.dirname(from); ; level = path.dirname(level)) {
        folders.forEach((folder) => reads.hiding(path.join(path.resolve(level, folder), name, "index.js")));
        if (level === config.rootDir || level === path.dirname(level)) return;
      }
    }
    const instead = function (from, name) {
      try {
        configured(this._config);
        const file = resolved(this, from, name);
        reads.edge(from, file);
        hidden(this._config, from, name, file);
      } catch (error) { /* a module of Node, or a missing one */ }
      return before.apply(this, arguments);
    };
    instead.isReading = true;
    type.prototype.requireModuleOrMock = instead;
  });
