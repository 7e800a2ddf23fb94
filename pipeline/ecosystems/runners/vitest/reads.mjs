// Reports the set-up of Vitest's tests, and which module imports which. This is a reporter, since the server knows
// both. `execution/reads.cjs` is loaded into the same process and writes the reports.
const reads = globalThis[Symbol.for("a11y-bench.reads")];
const NAMED = ["setupFiles", "globalSetup", "environment", "environmentMatchGlobs", "snapshotSerializers", "snapshotEnvironment", "runner", "pool", "poolMatchGlobs", "diff", "reporters", "typecheck", "browser", "sequence"];

const parts = (vitest) => {
  const projects = [vitest, ...(vitest.projects ?? [])];
  const all = projects.map((project) => [project.config, project.vite ?? project.server ?? project.vitenode?.server]);
  return all.filter(([, server], at) => server || at);
};

function configured(vitest) {
  for (const [config, server] of parts(vitest)) {
    for (const key of NAMED) reads.strings(config?.[key]).forEach(reads.named);
    const own = server?.config ?? {};
    for (const file of [own.configFile, ...(own.configFileDependencies ?? [])]) if (file) reads.loaded(file);
    for (const { find, replacement } of own.resolve?.alias ?? []) reads.mapped(find?.source ?? find, String(replacement));
  }
}

function graph(vitest) {
  for (const [, server] of parts(vitest)) {
    const graphs = [server?.moduleGraph, ...Object.values(server?.environments ?? {}).map((env) => env.moduleGraph)];
    for (const moduleGraph of graphs)
      for (const module of moduleGraph?.idToModuleMap?.values() ?? [])
        for (const importer of module.importers ?? []) if (importer.file && module.file) reads.edge(importer.file, module.file);
  }
}

const quietly = (look, vitest) => {
  try { if (reads) look(vitest); } catch { /* its form is unknown */ }
};

export default class {
  onInit(vitest) {
    this.vitest = vitest;
    quietly(configured, vitest);
  }
  onFinished() {
    quietly(graph, this.vitest);
  }
  onTestRunEnd() {
    this.onFinished();
  }
}
