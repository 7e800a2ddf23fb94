"use strict";
// Runs pages in a Node process and a browser of their own, without isolation, as page harnesses do: the comparison of
// `just bench pages`. Arguments: playwright-core, axe-core, deepmerge, the browser, the time limit of an action in
// seconds, and a JSON list of [page, test.js]. Prints how long tests waited by the clock, in seconds.
const fs = require("fs");
const path = require("path");
const [playwright, axePath, mergePath, program, seconds, pages] = process.argv.slice(2);
const { chromium } = require(playwright);
const axe = fs.readFileSync(axePath, "utf8");
const merge = require(mergePath);

const asserting = (collected) => async (name, fn) => {
  try {
    const found = await fn();
    collected.push([name, Boolean(found && typeof found === "object" ? found.pass : found)]);
  } catch {
    collected.push([name, false]);
  }
};

const onePage = async (browser, html, test) => {
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
  const utils = { reload, runAxeOnPage, merge };
  await reload();
  const found = require(path.resolve(test));
  await found.run({ page, assert: asserting([]), utils });
  await runAxeOnPage();
  if (found.runAxe) await found.runAxe({ page, utils }).catch(() => {});
  await page.screenshot({ fullPage: true });
  await context.close();
  return waited / 1000;
};

const main = async () => {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  let waits = 0;
  for (const [html, test] of JSON.parse(fs.readFileSync(pages, "utf8"))) waits += await onePage(browser, html, test);
  await browser.close();
  console.log(JSON.stringify({ waits }));
};

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
