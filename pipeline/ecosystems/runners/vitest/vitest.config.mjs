// The repository's own configuration of vitest, with a runner that keeps what each test has rendered (`hooks` puts its
// path in). Projects that have configurations of their own are not reached.
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
