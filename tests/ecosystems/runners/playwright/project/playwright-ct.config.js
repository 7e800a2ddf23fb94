const { defineConfig } = require("@playwright/experimental-ct-react");

// an image with a browser says where Playwright looks for its own; elsewhere CHROME_BIN names one
const here = process.env.PLAYWRIGHT_BROWSERS_PATH
  ? {}
  : { executablePath: process.env.CHROME_BIN, args: ["--no-sandbox"] };

module.exports = defineConfig({
  testDir: "src",
  maxFailures: 1,
  use: { launchOptions: here },
  projects: [{ name: "chromium", use: { browserName: "chromium" } }],
});
