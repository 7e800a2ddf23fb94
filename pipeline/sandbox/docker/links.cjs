// Makes the image's Chromium stand where the Playwright packages below a folder look for theirs: by the revision in their
// `browsers.json`, at all places in which one of their versions expects the program. Firefox and WebKit stay missing.
"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const PLACES = {
  chromium: ["chrome-linux/chrome", "chrome-linux64/chrome"],
  "chromium-headless-shell": [
    "chrome-linux/headless_shell",
    "chrome-linux/chrome-headless-shell",
    "chrome-headless-shell-linux64/chrome-headless-shell",
  ],
};

const named = ["-path", "*/node_modules/*playwright*/browsers.json"];
const lists = execFileSync("find", [process.argv[2], ...named], { maxBuffer: 1 << 28 }).toString();
for (const list of lists.split("\n").filter(Boolean))
  for (const { name, revision } of JSON.parse(fs.readFileSync(list, "utf8")).browsers || [])
    for (const place of PLACES[name] || []) {
      const folder = path.join(process.env.PLAYWRIGHT_BROWSERS_PATH, `${name.replace(/-/g, "_")}-${revision}`);
      const program = path.join(folder, place);
      fs.mkdirSync(path.dirname(program), { recursive: true });
      if (!fs.existsSync(program)) fs.symlinkSync(process.env.CHROME_BIN, program);
      fs.writeFileSync(path.join(folder, "INSTALLATION_COMPLETE"), "");
    }
