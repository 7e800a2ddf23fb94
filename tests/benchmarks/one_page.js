"use strict";
// One page in a Node process and a browser of its own, as page harnesses do it: what `just bench pages` compares with.
// Arguments: playwright-core, axe-core, deepmerge, the browser, the page, test.js, seconds of an action at most.
const fs = require("fs");
const path = require("path");
const [playwright, axePath, mergePath, program, html, test, seconds] = process.argv.slice(2);
const { chromium } = require(playwright);
const axe = fs.readFileSync(axePath, "utf8");

const main = async () => {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(Number(seconds) * 1000);
  let waited = 0;
  const wait = page.waitForTimeout.bind(page);
  page.waitForTimeout = (ms) => ((waited += ms), wait(ms));
  const reload = async () => {
    await page.reload();
    await page.setContent(fs.readFileSync(html, "utf8"), { waitUntil: "load" });
    await page.addScriptTag({ content: axe });
    await page.evaluate(() => window.axe.setup());
  };
  const runAxeOnPage = () => page.evaluate(async () => (await window.axe.run()).violations.length);
  const utils = { reload, runAxeOnPage, merge: require(mergePath) };
  const collected = [];
  const assert = async (name, fn) => {
    try {
      const found = await fn();
      collected.push([name, Boolean(found && typeof found === "object" ? found.pass : found)]);
    } catch {
      collected.push([name, false]);
    }
  };
  await reload();
  const found = require(path.resolve(test));
  await found.run({ page, assert, utils });
  await runAxeOnPage();
  if (found.runAxe) await found.runAxe({ page, utils }).catch(() => {});
  await page.screenshot({ fullPage: true });
  await browser.close();
  console.log(JSON.stringify({ collected, waits: waited / 1000 }));
};

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
