"use strict";
// A process that runs one page after another, each in a fresh context of one browser, until its input ends.
// If a case leaves something behind, the result says that the process is not sound; the next page needs a new one.
// Reads and writes one JSON line per page, on given file descriptors, so that a case cannot write there by printing.
// A line about a page has the id of its request, which the page's case does not get.
// Independent of data/. Arguments: descriptor in, descriptor out, settings as JSON.
const fs = require("fs");
const readline = require("readline");
const [input, output] = process.argv.slice(2, 4).map(Number);
const settings = JSON.parse(process.argv[4]);
const { chromium } = require(settings.playwright);
const { runPage } = require("./page.js");
const { Traces, countTimers } = require("./traces.js");
const merge = require(settings.merge);
// What the browser says of itself to pages.
const says = { agent: settings.agent, ordinary: settings.ordinary };
// In ASCII, its texts take half the memory and time on their way to the browser.
const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
const axe = fs.readFileSync(settings.axe, "utf8").replace(/[^\x00-\x7f]/g, escaped);

const NOBODY = 65534;
// How a page may seem to end if the browser does.
const BY_LOSS = ["", "closed", "load", "unaudited"];
let current = null;
let id = "";

// Half of a character that a page wrote or that we cut in two can be in no file.
const whole = (_, value) => (typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value);

const send = (message) => {
  const data = Buffer.from(JSON.stringify({ id, ...message }, whole) + "\n");
  for (let sent = 0; sent < data.length; ) {
    try {
      sent += fs.writeSync(output, data, sent);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
};

// Reports a case that ends the process; a killed process cannot. Its folder is removed with it.
process.on("exit", (code) => {
  if (current) send({ left: code });
  fs.rmSync(settings.home, { recursive: true, force: true });
});
process.on("SIGPIPE", () => process.exit(1));
// A rejection that a case did not await: it belongs to the current page, or to none.
for (const stray of ["unhandledRejection", "uncaughtException"]) {
  process.on(stray, (error) => current && current.stray(error));
}

const drop = () => {
  if (process.getuid && process.getuid() === 0) {
    process.setgroups([]);
    process.setgid(NOBODY);
    process.setuid(NOBODY);
  }
};

// Without RenderDocument, the documents of one page share a frame, which makes loading it again cheaper. Chromium only
// reads the last --disable-features, which must therefore repeat Playwright's. Playwright has no public way to ask for
// them: where the private one is missing, pages only load more slowly.
const features = async () => {
  const name = "--disable-features=";
  try {
    const theirs = await chromium._connection.toImpl(chromium).defaultArgs({ headless: true }, false, "");
    const off = theirs.filter((word) => word.startsWith(name)).map((word) => word.slice(name.length));
    return off.length ? [`${name}${[...off, "RenderDocument"].join()}`] : [];
  } catch {
    return [];
  }
};

const main = async () => {
  drop();
  const quiet = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  const browser = await chromium.launch({
    executablePath: settings.browser,
    args: [...settings.arguments, ...(await features())],
    chromiumSandbox: true,
    ...quiet,
  });
  countTimers();
  let lost = false;
  browser.on("disconnected", () => (lost = true));
  const traces = new Traces(browser);
  send({ ready: { chromium: browser.version(), node: process.versions.node } });
  for await (const line of readline.createInterface({ input: fs.createReadStream(null, { fd: input }) })) {
    current = { strays: [], stray: (error) => current.strays.push(error) };
    const { id: asked, ...job } = JSON.parse(line);
    id = asked;
    const done = await runPage(browser, job, { axe, merge, traces, ...says, strays: current.strays });
    current = null;
    if (lost && BY_LOSS.includes(done.ended)) Object.assign(done, { ended: "ended", detail: "the browser ended" });
    send({ done: { ...done, sound: done.sound && !lost && traces.areNone() } });
  }
  current = null;
  await browser.close();
};

main().then(
  () => process.exit(0),
  (error) => {
    current = null;
    send({ broken: String((error && error.stack) || error) });
    process.exit(1);
  },
);
