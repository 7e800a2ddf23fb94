// The repository's own configuration of vitest, with a runner that keeps what each test has rendered (`hooks` puts its
// path in). Projects that have configurations of their own are not reached.
import { fileURLToPath } from "node:url";
import * as module from "CONFIGURATION";

const runner = fileURLToPath(new URL("./vitest.runner.mjs", import.meta.url));

function hooked(config) {
  const test = { ...config.test, runner };
  const projects = test.projects && { projects: test.projects.map((one) => (one.test ? hooked(one) : one)) };
  return { ...config, test: { ...test, ...projects } };
}

export default async (environment) => {
  const given = await module.default;
  return hooked(typeof given === "function" ? await given(environment) : (given ?? {}));
};
