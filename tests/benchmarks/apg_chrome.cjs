"use strict";
// Loaded before the tests of w3c/aria-practices, which drive Firefox through geckodriver: they get Chromium through
// ChromeDriver instead, without a network. Changes nothing else. A11Y_DRIVER, A11Y_BROWSER: paths of the two programs.
const Module = require("module");
const { spawn } = require("child_process");

const start = async ({ port }) => spawn(process.env.A11Y_DRIVER, [`--port=${port}`], { stdio: "ignore" });
const ARGUMENTS = ["--headless", "--disable-gpu", "--window-size=1280,1000", "--proxy-server=http://127.0.0.1:9", "--no-first-run"];

const chromium = (webdriver, own) => {
  const options = new (own("selenium-webdriver/chrome").Options)();
  options.setChromeBinaryPath(process.env.A11Y_BROWSER);
  options.addArguments(...ARGUMENTS, ...JSON.parse(process.env.A11Y_ARGUMENTS || "[]"));
  const { forBrowser } = webdriver.Builder.prototype;
  webdriver.Builder.prototype.withCapabilities = function () {
    return this;
  };
  webdriver.Builder.prototype.forBrowser = function () {
    return forBrowser.call(this, "chrome").setChromeOptions(options);
  };
  webdriver.Builder.prototype.forBrowser.isOurs = true;
};

const load = Module._load;
Module._load = function (request, parent, isMain) {
  if (request === "geckodriver") return { start };
  const found = load.call(this, request, parent, isMain);
  if (request === "selenium-webdriver" && !found.Builder.prototype.forBrowser.isOurs) {
    chromium(found, Module.createRequire(parent.filename));
  }
  return found;
};
