// The repository's own Vitest configuration (`hook_files` inserts its path), with a runner that saves what each test
// renders. Does not reach projects that have configurations of their own.
import { fileURLToPath } from "node:url";
import * as module from "CONFIGURATION";

const runner = fileURLToPath(new URL("./vitest.runner.mjs", import.meta.url));

function hooked(config) {
  const test = { ...config.test, runner };
  const projects = test.projects && { projects: test.projects.map((project) => (project.test ? hooked(project) : project)) };
  return { ...config, test: { ...test, ...projects } };
}

export default async (environment) => {
  const exported = await module.default;
  return hooked(typeof exported === "function" ? await exported(environment) : (exported ?? {}));
};
