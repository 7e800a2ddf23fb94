// Vitest's own runner, extended: it saves the document of each test at the end of the test, before anything cleans up.
// Writes `captured.jsonl` beside itself ({file, names, html} per line), and `jsdom`, the path of the jsdom that tests
// use.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const { resolve } = createRequire(`${process.cwd()}/package.json`);
const vitest = path.dirname(resolve("vitest/package.json"));
const own = (name) => import(/* @vite-ignore */ pathToFileURL(path.join(vitest, "dist", name)).href);
const { VitestTestRunner } = await own("runners.js");
const { getFn } = await own("suite.js");
const beside = (name) => path.join(path.dirname(fileURLToPath(import.meta.url)), name);

const isGroup = (suite) => suite?.type === "suite" && suite.name && !suite.filepath;
const names = (suite) => (isGroup(suite) ? [...names(suite.suite), suite.name] : []);

function keep(test) {
  const { document, navigator } = globalThis;
  if (!/jsdom/.test(navigator?.userAgent) || !document?.body?.firstElementChild) return;
  const styles = [...document.querySelectorAll("head style")].map((style) => style.outerHTML);
  const html = [...styles, document.body.innerHTML].join("\n");
  const line = { file: test.file.filepath, names: [...names(test.suite), test.name], html };
  fs.appendFileSync(beside("captured.jsonl"), `${JSON.stringify(line)}\n`);
  fs.writeFileSync(beside("jsdom"), resolve("jsdom"));
}

export default class extends VitestTestRunner {
  async runTask(test) {
    try {
      await getFn(test)();
    } finally {
      keep(test);
    }
  }
}
