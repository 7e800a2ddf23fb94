const { defineConfig } = require("@playwright/experimental-ct-react");

module.exports = defineConfig({
  testDir: "src",
  use: { launchOptions: { executablePath: process.env.CHROME_BIN, args: ["--no-sandbox"] } },
  projects: [{ name: "chromium", use: { browserName: "chromium" } }],
});
