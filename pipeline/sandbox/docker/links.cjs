// Links the image's Chromium to the places where the Playwright packages below a folder look for their browsers: by the
// revision in their `browsers.json`, at every path at which some version of Playwright expects the program. The
// headless shell has the revision of the whole browser, or one of its own. Firefox and WebKit stay missing.
"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const WHOLE = ["chrome-linux/chrome", "chrome-linux64/chrome"];
const HEADLESS = [
  "chrome-linux/headless_shell",
  "chrome-linux/chrome-headless-shell",
  "chrome-headless-shell-linux64/chrome-headless-shell",
];
// name in `browsers.json` -> folders, and the paths of the program in each
const FOLDERS = {
  chromium: { chromium: WHOLE, chromium_headless_shell: HEADLESS },
  "chromium-headless-shell": { chromium_headless_shell: HEADLESS },
};

function link(folder, paths) {
  for (const file of paths) {
    const program = path.join(folder, file);
    fs.mkdirSync(path.dirname(program), { recursive: true });
    if (!fs.existsSync(program)) fs.symlinkSync(process.env.CHROME_BIN, program);
  }
  fs.writeFileSync(path.join(folder, "INSTALLATION_COMPLETE"), "");
}

const pattern = ["-path", "*/node_modules/*playwright*/browsers.json"];
const lists = execFileSync("find", [process.argv[2], ...pattern], { maxBuffer: 1 << 28 }).toString();
for (const list of lists.split("\n").filter(Boolean))
  for (const { name, revision } of JSON.parse(fs.readFileSync(list, "utf8")).browsers || [])
    for (const [folder, paths] of Object.entries(FOLDERS[name] || {}))
      link(path.join(process.env.PLAYWRIGHT_BROWSERS_PATH, `${folder}-${revision}`), paths);
