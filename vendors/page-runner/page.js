"use strict";
// One page in a fresh context: isolated, watched, run through its case, audited, and closed in any case.
// Everything that a case evaluates "in the page" is evaluated in an isolated world, which has the document and axe-core,
// but nothing that the page's scripts define. A page can therefore fake neither.
const { adapt, share } = require("./adapt.js");
const { TOO_LONG, asserting, cut, load, returned, messageOf, within } = require("./case.js");
const { audit, finish, openAll, lazily, madeByCase, reported } = require("./audit.js");
const { randomUUID } = require("crypto");
// Limits hold whatever a case makes of the global ones.
const { clearTimeout, setTimeout } = globalThis;

const ORIGIN = "https://pages.invalid/";
const VIEW = { width: 1280, height: 800 };
const CONTEXT = {
  viewport: VIEW,
  offline: true,
  serviceWorkers: "block",
  acceptDownloads: false,
  locale: "en-US",
  timezoneId: "UTC",
};
// A page is audited first as most people see it. A test waits for less if the page moves less.
const OF_TESTS = { reducedMotion: "reduce" };
// The number of incidents of one kind that ends a page, and how many of them are reported.
const MOST = {
  popup: 20,
  dialog: 100,
  reload: 50,
  navigation: 100,
  download: 20,
  network: 5000,
  console: 10000,
  error: 5000,
  "service worker": 1000,
};
const MOST_EXAMPLES = 10;
// How a case may ask for a document. Its own loads are no incidents, but are limited as the page's are.
const LOADING = ["reload", "goto", "goBack", "goForward"];
const MOST_MESSAGES = 50;
// Seconds for what should take no time: closing a page, stopping its script.
const PROMPTLY = 5;
// The maximum size of a screenshot, and the size of a page as a screenshot would show it.
const [WIDEST, TALLEST] = [2560, 4000];
const SIZE = () =>
  ["scrollWidth", "scrollHeight"].map((side) =>
    Math.max(...[document.documentElement, document.body].map((one) => (one ? one[side] : 0))),
  );

// Whether a picture has one color only.
const ONE_COLOR = async (picture) => {
  const bytes = Uint8Array.from(atob(picture), (one) => one.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const drawn = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  drawn.drawImage(bitmap, 0, 0);
  const colors = new Uint32Array(drawn.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
  return colors.every((color) => color === colors[0]);
};

// Attempts to connect that are not requests, or become one when nobody looks: their constructors or functions, in the
// page's own world, print what was attempted.
const MARK = "a11y-bench saw ";
const CONNECTING = ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"];
const ANNOUNCE = ({ mark, names }) => {
  const { apply, construct } = Reflect;
  const { debug } = console;
  const announced = (name) => ({
    construct(made, given, target) {
      debug(`${mark}${name}`);
      return construct(made, given, target);
    },
  });
  for (const name of names.filter((one) => self[one])) {
    self[name] = new Proxy(self[name], announced(name));
    self[name].prototype.constructor = self[name];
  }
  const isWeb = (address) => /^http/.test(new URL(address, document.baseURI).protocol);
  const called = [
    [self, "fetchLater", () => true],
    [self.Worklet?.prototype, "addModule", isWeb],
    [self.CredentialsContainer?.prototype, "get", (wanted) => Boolean(wanted?.identity)],
  ];
  for (const [owner, name, isAttempt] of called.filter(([one, name]) => one?.[name])) {
    owner[name] = new Proxy(owner[name], {
      apply(made, on, given) {
        try {
          if (isAttempt(given[0])) debug(`${mark}${name}`);
        } catch {} // what cannot be read is no address
        return apply(made, on, given);
      },
    });
  }
};
// Addresses that become a request or a document, which are seen there. Others belong to other programs.
const SEEN_LATER = /^(?:https?|about|blob|data|javascript):/i;
// Attempts that the browser refuses before they are requests or documents: by the source and text of its message.
const REFUSED = [
  ["navigation", "security", /^Not allowed to (?:load local resource|navigate top frame)/],
  ["network", "javascript", /^Not allowed to load local resource/],
];
// What the browser keeps of a page in the background. The rest is cleared by a script in the next document, before that
// document's own: the last one may still write while it is left. A header says which documents are to be fresh.
const KEPT = "cookies,file_systems,indexeddb,local_storage,cache_storage";
const FRESH = { "server-timing": "fresh" };
const FORGET = `if (self === top && performance.getEntriesByType("navigation")[0]?.serverTiming.length) {
  const expire = (one) => { document.cookie = one.split("=", 1)[0] + "=; max-age=0"; };
  const all = [() => localStorage.clear(), () => sessionStorage.clear(), () => { self.name = ""; }];
  for (const forget of [...all, () => document.cookie.split("; ").forEach(expire)]) try { forget(); } catch {}
}`;
// A script for the isolated world of each new document: says which of these selectors an element matches, at any time,
// since a page may show something only while it is used. It prints the number of each after a secret that the page does
// not know. What is in shadow roots is not seen here.
const NOTICE = (secret, selectors) => `{
  const numbers = new Map(${JSON.stringify(selectors)}.map((one, number) => [one, number]));
  const { debug } = console;
  const { matches, querySelector } = Element.prototype;
  const isGone = (one) => one instanceof Element && !one.isConnected;
  const isIn = (node, one) =>
    node === document ? document.querySelector(one) : matches.call(node, one) || querySelector.call(node, one);
  const look = (changes) => {
    const gone = changes.flatMap(({ addedNodes }) => [...addedNodes].filter(isGone));
    const any = [...numbers.keys()].join();
    for (const node of [document, ...gone].filter((node) => isIn(node, any))) {
      for (const [one, number] of [...numbers].filter(([one]) => isIn(node, one))) {
        debug("${secret}" + number);
        numbers.delete(one);
      }
    }
    if (!numbers.size) observer.disconnect();
  };
  const observer = new MutationObserver(look);
  const names = [...numbers.keys()].flatMap((one) => /\\[([\\w-]+)/.exec(one)?.[1] ?? []);
  const attributeFilter = ["class", "id", "lang", ...names];
  observer.observe(document, { childList: true, subtree: true, attributeFilter });
}`;
// What Playwright prints in place of a service worker.
const NO_SERVICE_WORKER = "Service Worker registration blocked by Playwright";

// A page's unrequested actions; too many of one kind end it. Examples are the first of each kind, and of each type of
// console message.
class Incidents {
  constructor(trip) {
    this.counts = {};
    this.examples = {};
    this.trip = trip;
  }

  note(kind, text, most = MOST_EXAMPLES) {
    this.counts[kind] = (this.counts[kind] || 0) + 1;
    const list = (this.examples[kind] = this.examples[kind] || []);
    const isMessage = typeof text === "object" && text !== null;
    const alike = list.filter((one) => !isMessage || one.type === text.type);
    if (alike.length < most) list.push(isMessage ? text : cut(String(text), 300));
    if (this.counts[kind] > MOST[kind]) this.trip(kind);
  }
}

// The frame of a request; none for the navigation of a popup, which has no page yet.
const frameOf = (request) => {
  try {
    return request.frame();
  } catch {
    return null;
  }
};

const isOwn = (url) => {
  const { origin, pathname } = new URL(url);
  return `${origin}/` === ORIGIN && (pathname === "/" || pathname === "/index.html");
};

class Watched {
  constructor(context, page, { html, limits, gate }) {
    Object.assign(this, { context, page, html, limits, waited: 0, awaited: "", again: 0 });
    Object.assign(this, { wanted: [...(gate.selectors || []), ...(gate.names || [])], shown: new Set(), isSeen: false });
    this.secret = `${randomUUID()} `;
    Object.assign(this, { arrived: false, used: false, decided: 0, answering: new Set() });
    Object.assign(this, { answered: false, opening: Promise.resolve(), ofCase: new Set() });
    this.hints = new Set();
    this.tripped = new Promise((resolve) => (this.trip = resolve));
    this.incidents = new Incidents(this.trip);
  }

  static async of(browser, job, { axe, agent, ordinary }) {
    const context = await browser.newContext(CONTEXT);
    const page = await context.newPage();
    const script = await adapt(page);
    const watched = new Watched(context, page, job);
    const { limits } = job;
    watched.devtools = await context.newCDPSession(page);
    await Promise.all(["Page.enable", "Log.enable"].map((name) => watched.devtools.send(name)));
    if (agent) await watched.devtools.send("Emulation.setUserAgentOverride", agent);
    await context.addInitScript(ordinary);
    await watched._offer(script);
    await watched._offer(lazily(axe));
    await watched._offer(FORGET);
    if (watched.wanted.length) await watched._offer(NOTICE(watched.secret, watched.wanted));
    await watched._fence();
    share(page);
    watched._watch();
    page.setDefaultTimeout(limits.action * 1000);
    page.setDefaultNavigationTimeout(limits.load * 1000);
    for (const name of LOADING) {
      const go = page[name].bind(page);
      page[name] = (...given) => watched._asked("again", () => go(...given)).finally(() => watched.open());
    }
    const newPage = context.newPage.bind(context);
    context.newPage = () => watched._opens(newPage());
    const wait = page.waitForTimeout.bind(page);
    page.waitForTimeout = (ms) => {
      watched.waited += Number(ms) || 0;
      return wait(ms);
    };
    return watched;
  }

  // Runs a script in the isolated world of each new document.
  async _offer(source) {
    const { utilityWorldName: worldName } = this.page._connection.toImpl(this.page).delegate;
    await this.devtools.send("Page.addScriptToEvaluateOnNewDocument", { source, worldName });
  }

  async _fence() {
    const answer = async (route) => {
      const request = route.request();
      const frame = frameOf(request);
      const main = request.isNavigationRequest() && frame === this.page.mainFrame();
      if (main && isOwn(request.url())) {
        const { awaited } = this;
        this.awaited = "";
        if (!awaited) this.incidents.note("reload", request.url());
        if (awaited === "again" && ++this.again > MOST.reload) this.trip("reload");
        const isFresh = awaited === "fresh";
        if (this.arrived) await Promise.all([this._leaveMouse(), isFresh && this._forget()]);
        this.answered ||= isFresh;
        const headers = isFresh ? FRESH : {};
        return route.fulfill({ contentType: "text/html; charset=utf-8", headers, body: this.html });
      }
      const kind = main ? "navigation" : frame ? "network" : "popup";
      this.incidents.note(kind, `${request.method()} ${request.resourceType()} ${request.url()}`);
      if (main && !this.used) this.trip("left"); // nothing has used it yet, so it leaves by itself
      // an aborted navigation leaves the page, or a popup, as it is
      return route.abort(kind === "network" ? "internetdisconnected" : "aborted");
    };
    await this.context.route("**/*", (route) => answer(route).catch(() => {}));
    await this.context.addInitScript(ANNOUNCE, { mark: MARK, names: CONNECTING });
  }

  _watch() {
    const { context, incidents, page } = this;
    page.on("crash", () => this.trip("crash"));
    page.on("close", () => this.trip("closed"));
    context.on("dialog", (dialog) => {
      incidents.note("dialog", `${dialog.type()}: ${dialog.message()}`);
      this._answer(dialog);
    });
    page.on("download", (download) => {
      incidents.note("download", download.suggestedFilename());
      download.cancel().catch(() => {});
    });
    const socket = (opened) => incidents.note("network", `websocket ${opened.url()}`);
    page.on("websocket", socket);
    page.on("pageerror", (error) => incidents.note("error", messageOf(error)));
    context.on("console", (message) => {
      const text = cut(message.text(), 300);
      if (text.startsWith(this.secret)) return this.shown.add(this.wanted[text.slice(this.secret.length)]);
      if (text === NO_SERVICE_WORKER) return incidents.note("service worker", "register");
      if (text.startsWith(MARK)) return incidents.note("network", text.slice(MARK.length));
      incidents.note("console", { type: message.type(), text }, MOST_MESSAGES);
    });
    page.on("framenavigated", (frame) => {
      if (frame !== page.mainFrame()) return;
      if (frame.url().startsWith(ORIGIN)) return (this.arrived = true);
      if (!this.arrived) return;
      incidents.note("navigation", frame.url());
      this.trip("left");
    });
    context.on("page", async (popup) => {
      popup.on("websocket", socket);
      await this.opening;
      if (this.ofCase.has(popup)) return;
      incidents.note("popup", popup.url());
      popup.close().catch(() => {});
    });
    const isOutside = ({ url }) => url && !SEEN_LATER.test(url);
    this.devtools.on("Page.frameRequestedNavigation", (asked) => {
      if (isOutside(asked)) incidents.note("navigation", asked.url);
    });
    this.devtools.on("Log.entryAdded", ({ entry }) => {
      const refused = REFUSED.find(([, source, text]) => source === entry.source && text.test(entry.text));
      if (refused) incidents.note(refused[0], entry.text);
    });
    this.devtools.on("Page.windowOpen", (asked) => {
      if (isOutside(asked) || asked.url.startsWith("data:")) incidents.note("popup", asked.url);
    });
  }

  // Answers a dialog. If the case listens to dialogs, it answers instead, but a dialog must not stop the page for longer
  // than the action that opened it may take. We leave a page that is loaded anew even if it, or the case, objects.
  _answer(dialog) {
    const isLeaving = dialog.type() === "beforeunload";
    const answer = () => (isLeaving ? dialog.accept() : dialog.dismiss()).catch(() => {});
    const count = (one) => (one ? one.listenerCount("dialog") : 0);
    const isHeard = count(dialog.page()) || count(this.context) > 1;
    if (!isHeard || (isLeaving && this.awaited === "fresh")) return void answer();
    this.answering.add(setTimeout(answer, (this.limits.action / 2) * 1000));
  }

  // Documents of a page share a frame, and with it the mouse: the next one starts without it.
  async _leaveMouse() {
    const away = { type: "mouseMoved", x: -1, y: -1 };
    await within(PROMPTLY, this.devtools.send("Input.dispatchMouseEvent", away).catch(() => {}));
  }

  async _forget() {
    const kept = { origin: ORIGIN, storageTypes: KEPT };
    await within(PROMPTLY, this.devtools.send("Storage.clearDataForOrigin", kept).catch(() => {}));
  }

  // A load that was asked for, and is not the page's action.
  async _asked(how, load) {
    this.awaited = how;
    try {
      return await load();
    } finally {
      this.awaited = "";
    }
  }

  // Loads the page, with nothing that an earlier document of it kept, in its place, so that there is none to go back to.
  async load() {
    await this.devtools.send("Page.resetNavigationHistory").catch(() => {});
    await this._asked("fresh", async () => {
      this.answered = false; // until then, the document that is left may change its address
      const loaded = this.page.waitForNavigation({ url: () => this.answered, waitUntil: "load" });
      const expression = `location.replace("${ORIGIN}")`;
      await Promise.all([loaded, this.devtools.send("Runtime.evaluate", { expression })]);
    });
  }

  // Shows closed shadow roots to the case, as the audit before it does.
  async open() {
    await within(PROMPTLY, openAll(this).catch(() => {}));
  }

  // A page that the case asked for is no popup.
  async _opens(asked) {
    const known = asked.then((page) => this.ofCase.add(page)).catch(() => {});
    this.opening = Promise.all([this.opening, known]);
    return asked;
  }

  // Ends the running script. A page that does not respond runs into its limits.
  async release() {
    await within(PROMPTLY, this.devtools.send("Runtime.terminateExecution").catch(() => {}));
  }

  // A page that is too large for a picture is shown as far as a window of this size shows it.
  async screenshot() {
    const [width, height] = await this.page.evaluate(SIZE);
    const fullPage = width <= WIDEST && height <= TALLEST;
    try {
      if (!fullPage) await this.page.setViewportSize({ width: VIEW.width, height: Math.min(height, TALLEST) });
      await finish(this.page.mainFrame());
      const picture = await this.page.screenshot({ fullPage, timeout: PROMPTLY * 1000 });
      return picture.toString("base64");
    } finally {
      if (!fullPage) await this.page.setViewportSize(VIEW);
    }
  }

  // Whether people who look at the page see anything, now or when it was last asked. A page of which no picture can be
  // taken may show something.
  async shows(picture) {
    const isPlain = async () => {
      const seen = picture || (await this.screenshot());
      return seen && this.page.evaluate(ONE_COLOR, seen);
    };
    this.isSeen ||= (await within(PROMPTLY, isPlain().catch(() => false))) !== true;
    return this.isSeen;
  }

  // Whether the browser closed the page.
  async close() {
    this.answering.forEach(clearTimeout);
    await this.release();
    return (await within(PROMPTLY, this.context.close().then(() => true, () => false))) === true;
  }
}

// Why a page is not about its case, and which selectors it has now. It needs all `selectors`, the names in its prompt;
// without any, one of the `names`, elements that the prompt mentions, one of the `words` or two of the `pairs`, words of
// the prompt in what people can perceive of it: texts, hidden ones included, and the attributes that name or describe.
// What was `shown` before counts, too. In a form, fields can take the place of its properties, so these are read by the
// functions of all elements.
const ON_TASK = ({ selectors = [], names = [], words = [], pairs = [], shown = [] }) => {
  const shows = "img, svg, canvas, video, audio, input, button, select, textarea, iframe, object, [role], [aria-label]";
  const all = (root) => [root, ...root.querySelectorAll("*")];
  const below = ({ shadowRoot }) => (shadowRoot ? withShadows(shadowRoot) : []);
  const withShadows = (root) => [root, ...all(root).flatMap(below)];
  const isText = ({ nodeType }) => nodeType === Node.TEXT_NODE;
  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const [childNodes, innerText] = [getter(Node, "childNodes"), getter(HTMLElement, "innerText")];
  const { checkVisibility, getAttribute } = Element.prototype;
  const texts = (node) => [...childNodes.call(node)].filter(isText).map(({ data }) => data);
  const roots = document.body ? withShadows(document.body) : [];
  const isSeen = (one) => checkVisibility.call(one) && one instanceof HTMLElement && innerText.call(one).trim();
  const hasText = (root) => texts(root).join("").trim() || [...root.children].some(isSeen);
  if (!roots.some((root) => hasText(root) || root.querySelector(shows))) return { why: "the page is empty", has: [] };
  const isThere = (one) => shown.includes(one) || [document, ...roots].some((root) => root.querySelector(one));
  const has = [...selectors, ...names].filter(isThere);
  const gone = selectors.filter((one) => !has.includes(one));
  if (gone.length) return { why: `there is no ${gone.join(", ")}, which the prompt names`, has };
  if (has.length || !(names.length || words.length || pairs.length)) return { why: "", has };
  const naming = "alt aria-description aria-label aria-roledescription aria-valuetext label placeholder srcdoc title value";
  const named = (one) => naming.split(" ").map((name) => getAttribute.call(one, name) || "");
  const ofElement = (one) => [
    ...(/^(?:script|style)$/i.test(one.localName) ? [] : texts(one)),
    ...(one instanceof Element ? named(one) : []),
  ];
  const text = [document, ...roots].flatMap((root) => all(root).flatMap(ofElement)).join(" ").toLowerCase();
  const isLatin = (word) => /^[a-z]+$/.test(word);
  const begins = (word) => new RegExp(`(?<![\\p{L}\\p{N}])${word}`, "u").test(text);
  const says = (word) => (isLatin(word) ? begins(word) : text.includes(word));
  const found = pairs.filter(says);
  if (words.some(says) || found.length > 1) return { why: "", has };
  const what = found.length ? `of what the prompt mentions, only '${found[0]}'` : "nothing that the prompt mentions";
  return { why: `${what} is on the page`, has };
};

// A document that took the place of the audited one loads axe-core now, and has it set up.
const SET_UP = () => {
  const { axe } = globalThis;
  if (!axe._tree) axe.setup();
};

const byGate = async (watched, gate) => {
  const { page, shown } = watched;
  const { why, has } = await page.evaluate(ON_TASK, { ...gate, shown: [...shown] });
  has.forEach((one) => shown.add(one));
  return why || ((await watched.shows()) ? "" : "the page shows nothing");
};

const onTask = async (found, { watched, utils, gate }) => {
  if (typeof found.onTask !== "function") return byGate(watched, gate);
  const empty = await byGate(watched, {});
  const answer = empty ? false : await found.onTask({ page: watched.page, utils });
  const pass = answer !== null && typeof answer === "object" && "pass" in answer ? answer.pass : answer;
  return empty || (pass ? "" : cut((answer && answer.message) || "the case says that the page is not about it", 300));
};

// The `assert` helper; calls `look` at the end of each assertion, within its time.
const watchedBy = (assert, look) => (name, fn, opts) => {
  const looking = async () => {
    try {
      return await (typeof fn === "function" ? fn() : fn);
    } finally {
      await look();
    }
  };
  return assert(name, fn === undefined ? fn : looking, opts);
};

// Everything observed of a page, step by step, so that results remain if it is cut short.
const steps = async (watched, job, tools, seen) => {
  const { page, limits } = watched;
  const timed = async (name, work) => {
    const since = performance.now();
    try {
      return await work();
    } finally {
      seen.seconds[name] = (seen.seconds[name] || 0) + (performance.now() - since) / 1000;
    }
  };
  const audited = async (whole = false) => {
    const found = await timed("audit", () => within(limits.audit, audit(watched, tools.axe, whole)));
    if (found === TOO_LONG) return watched.trip("audit"), new Promise(() => {});
    if (found.broken) {
      seen.detail = cut(found.broken, 300);
      return watched.trip("unaudited"), new Promise(() => {});
    }
    for (const hint of found.hints.filter((one) => !watched.hints.has(one))) {
      watched.hints.add(hint);
      watched.incidents.note("network", hint);
    }
    seen.audits += 1;
    const { hints: _, ...lists } = found;
    lists.violations.forEach((one) => add(seen.violations, reported(one)));
    return lists;
  };
  try {
    await timed("load", () => watched.load());
  } catch (error) {
    seen.detail = messageOf(error);
    delete seen.seconds.load; // the time for the whole page may end now, too, and only this says that it did not load
    await watched.release();
    return watched.trip("load");
  }
  const utils = { reload: () => watched.load().finally(() => watched.open()), runAxeOnPage: () => audited(true), merge: tools.merge };
  if (job.screenshot) {
    seen.screenshot = await timed("screenshot", () => watched.screenshot().catch(() => ""));
    if (seen.screenshot) await watched.shows(seen.screenshot);
  }
  await audited();
  if (!job.folder) return;
  await page.emulateMedia(OF_TESTS);
  let found;
  try {
    found = load(job.folder);
  } catch (error) {
    seen.fault = messageOf(error);
    return;
  }
  watched.used = seen.used = true;
  const { assert, collected, settle } = asserting(limits.assertion, () => watched.release(), () => {
    watched.decided = performance.now();
  });
  seen.assertions = collected;
  const gated = () => onTask(found, { watched, utils, gate: job.gate });
  // A page may show its content late, or only while it is used.
  const gatedAgain = async (ask = gated) => {
    const why = seen.off_task && (await ask());
    if (seen.off_task) seen.off_task = why;
  };
  const byGateAgain = () => within(PROMPTLY, gatedAgain(() => byGate(watched, job.gate)).catch(() => {}));
  const asserted = typeof found.onTask === "function" ? assert : watchedBy(assert, byGateAgain);
  try {
    if (job.axe) await page.evaluate(SET_UP);
    seen.off_task = await gated();
    const gives = await timed("case", () => found.run({ page, assert: asserted, utils }));
    await timed("case", settle);
    await gatedAgain();
    collected.push(...returned(gives));
    await audited();
    if (typeof found.runAxe === "function") {
      const more = await timed("case", () => found.runAxe({ page, utils }));
      madeByCase(more).forEach((one) => add(seen.violations, one));
      await gatedAgain();
    }
  } catch (error) {
    seen.threw = messageOf(error);
    await timed("case", settle);
    await gatedAgain().catch(() => {});
  }
  const isOurs = (text) => /has been closed|dialog which is already handled/.test(text);
  const stray = tools.strays.map(messageOf).find((text) => !isOurs(text));
  if (stray) seen.threw = seen.threw || stray;
};

// A known violation gets the new elements.
const add = (violations, one) => {
  const known = violations.find(({ id, frame }) => id === one.id && frame === one.frame);
  if (!known) return violations.push(one);
  const targets = new Set(known.nodes.map(({ target }) => target.join()));
  const more = one.nodes.filter(({ target }) => !targets.has(target.join()));
  known.count += more.length;
  return known.nodes.push(...more);
};

const runPage = async (browser, job, tools) => {
  const since = performance.now();
  const texts = { ended: "", detail: "", threw: "", fault: "", off_task: "" };
  const seen = { ...texts, used: false, assertions: [], violations: [], audits: 0, seconds: {} };
  const opened = await within(PROMPTLY * 2, Watched.of(browser, job, tools));
  if (opened === TOO_LONG) return { ...seen, broken: "the browser could not open a page", sound: false };
  tools.traces.meet(opened.page);
  const working = steps(opened, job, tools, seen).then(
    () => "",
    (error) => ((seen.detail = messageOf(error)), "broken"),
  );
  const ended = await within(job.limits.page, Promise.race([opened.tripped, working]));
  seen.ended = ended === TOO_LONG ? "time" : ended;
  const undecided = seen.ended === "time" && opened.decided && performance.now() - opened.decided;
  const done = JSON.parse(JSON.stringify(seen));
  if (seen.ended === "broken") Object.assign(done, { ended: "", broken: seen.detail });
  // A page that keeps running would slow down the next one.
  const sound = (await opened.close()) && seen.ended !== "time";
  const { counts, examples } = opened.incidents;
  done.seconds.total = (performance.now() - since) / 1000;
  done.seconds.waits = opened.waited / 1000;
  if (undecided) done.seconds.undecided = undecided / 1000;
  return { ...done, incidents: counts, examples, sound };
};

module.exports = { runPage };
