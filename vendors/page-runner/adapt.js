"use strict";
// What we change in the server part of Playwright, which is in the same process. It uses its isolated world instead of
// the main one, and it does not send its script for queries, 340 kB, to each document: the browser keeps the script.
// What a case adds to the page's world, it also adds to the isolated one, where the case looks for it.
const PLACE = "makeInjectedScript";
const MADE = "return new (module.exports.InjectedScript())(";

// The script for the isolated world of each new document: it defines how Playwright's object for queries is made.
let script = "";

// Splits what Playwright evaluates to make that object into the script and the arguments; null for anything else.
const split = (expression) => {
  const end = expression.lastIndexOf(MADE);
  if (end < 0) return null;
  const work = expression.slice(expression.indexOf("() => {"), end);
  const [given] = expression.slice(end + MADE.length).split(");\n", 1);
  return { work, given };
};

// In a document that the script did not reach, such as a popup's, Playwright sends its own.
const keepScript = async (context) => {
  const Delegate = Object.getPrototypeOf(context.delegate);
  const evaluate = Delegate.rawEvaluateHandle;
  Delegate.rawEvaluateHandle = async function (inContext, expression) {
    const parts = split(expression);
    if (!parts) return evaluate.call(this, inContext, expression);
    script ||= `globalThis.${PLACE} = ${parts.work} return module.exports.InjectedScript(); };`;
    const made = `Object.hasOwn(globalThis, "${PLACE}") ? new (${PLACE}())(${parts.given}) : undefined`;
    const handle = await evaluate.call(this, inContext, made);
    return handle._objectId ? handle : evaluate.call(this, inContext, expression);
  };
  await context.injectedScript();
  if (!script) throw new Error("this playwright-core has no script that could be kept");
};

const isolate = (frame) => {
  const Frame = Object.getPrototypeOf(frame);
  const { context } = Frame;
  if (typeof context !== "function") throw new Error("this playwright-core has no worlds to choose from");
  Frame.context = function (world) {
    return context.call(this, world === "main" ? "utility" : world);
  };
  const { addScriptTag } = Frame;
  Frame.addScriptTag = async function (progress, given) {
    const tag = await addScriptTag.call(this, progress, given);
    const source = `${given.content}\n;undefined`;
    if (given.content && !given.type) await this.nonStallingEvaluateInExistingContext(source, "utility").catch(() => {});
    return tag;
  };
};

// Playwright's clock is the page's alone: axe-core and Playwright itself measure time in the isolated world.
const CLOCK = "__pwClock";

// Adds scripts for new documents, and exposed functions, of this page to both worlds from now on.
const share = (page) => {
  const server = page._connection.toImpl(page);
  const { delegate } = server;
  const add = delegate.addInitScript.bind(delegate);
  const evaluate = server.safeNonStallingEvaluateInAllFrames.bind(server);
  const isShared = (source, world) => world === "main" && !source.includes(CLOCK);
  delegate.addInitScript = async (script, world = "main") => {
    await add(script, world);
    if (isShared(script.source, world)) await add({ source: script.source }, "utility");
  };
  server.safeNonStallingEvaluateInAllFrames = async (source, world, options) => {
    await evaluate(source, world, options);
    if (isShared(source, world)) await evaluate(source, "utility", options);
  };
};

// Changes Playwright, once, before a case has used the page. Returns the script for new documents.
const adapt = async (page) => {
  if (script) return script;
  const frame = page._connection.toImpl(page).mainFrame();
  isolate(frame);
  await keepScript(await frame.context("utility"));
  return script;
};

module.exports = { adapt, share };
