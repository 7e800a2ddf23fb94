// Keeps what each test of jest (27 and later) has rendered, at its end and before anything cleans up. Node loads it
// before the runner (--require). Writes beside itself: `captured-PID.jsonl`, a line {test, html} for each document, and
// `jsdom.txt`, the jsdom that the tests run in. Nothing of the tests changes.
const fs = require("fs");
const path = require("path");
const Module = require("module");

const load = Module._load;
const captured = path.join(__dirname, `captured-${process.pid}.jsonl`);
const wrapped = new WeakSet();

Module._load = function (request, parent, isMain) {
  const found = load.call(this, request, parent, isMain);
  if (request === "jsdom") fs.writeFileSync(path.join(__dirname, "jsdom.txt"), Module._resolveFilename(request, parent));
  if (/environment/i.test(request)) listen((found?.TestEnvironment ?? found?.default ?? found)?.prototype);
  return found;
};

function listen(environment) {
  if (!environment?.getVmContext || wrapped.has(environment)) return;
  wrapped.add(environment);
  const own = environment.handleTestEvent;
  environment.handleTestEvent = async function (event, state) {
    if (/^test_fn_(success|failure)$/.test(event.name)) keep(this.global.document, event.test);
    return own?.call(this, event, state);
  };
}

function keep(document, test) {
  if (!document?.body?.firstElementChild) return;
  const styles = [...document.querySelectorAll("head style")].map((one) => one.outerHTML);
  const line = { test: title(test), html: [...styles, document.body.innerHTML].join("\n") };
  fs.appendFileSync(captured, `${JSON.stringify(line)}\n`);
}

function title(test) {
  const names = [];
  for (let one = test; one?.parent; one = one.parent) names.unshift(one.name);
  return names.join(" > ");
}
