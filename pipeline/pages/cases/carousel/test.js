// APG: carousel. The page's time is moved on, not waited for.
const SLIDES = ["Rose garden", "Palm house", "Alpine meadow"];

/** Asks frame by frame until `check` gives something true; false when that takes longer than `ms`. */
const eventually = async (page, check, ms = 1500) => {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await check()) return true;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return false;
};

const focused = async (locator) => (await locator.and(locator.page().locator(":focus")).count()) > 0;

const carousel = (page) =>
  page.getByRole("region", { name: /highlights/i }).or(page.getByRole("group", { name: /highlights/i })).first();
const control = (page, name) => page.getByRole("button", { name });
const next = (page) => control(page, /next/i).first();
const previous = (page) => control(page, /previous/i).first();
const stop = (page) => control(page, /stop|pause/i).first();

/** The slides whose heading can be seen: rendered, and inside every box that clips it. Short transitions are ended
 * first: on their way other slides may be seen. */
const seen = (page) =>
  page.evaluate((names) => {
    for (const one of document.getAnimations()) {
      if (one instanceof CSSTransition && one.effect.getComputedTiming().endTime <= 1000) one.finish();
    }
    const visible = (element) => {
      if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
      let { left, top, right, bottom } = element.getBoundingClientRect();
      for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
        if (getComputedStyle(box).overflow === "visible") continue;
        const edge = box.getBoundingClientRect();
        left = Math.max(left, edge.left);
        top = Math.max(top, edge.top);
        right = Math.min(right, edge.right);
        bottom = Math.min(bottom, edge.bottom);
      }
      return right - left > 1 && bottom - top > 1;
    };
    const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6, [role='heading']")].filter(visible);
    return names.filter((name) => headings.some((heading) => heading.textContent.includes(name))).join();
  }, SLIDES);

/** The slides that assistive technologies are told of. */
const told = async (page) => {
  const counts = await Promise.all(SLIDES.map((name) => page.getByRole("heading", { name }).count()));
  return SLIDES.filter((_, place) => counts[place]).join();
};

/** For a page's own scripts: what waits a second or longer waits until time is moved on. */
const holdTime = () => {
  const waiting = new Map();
  let now = 0;
  let last = 1e6;
  const hold = (name, again) => {
    const native = window[name].bind(window);
    window[name] = (handler, delay = 0, ...rest) => {
      if (delay < 1000 || typeof handler !== "function") return native(handler, delay, ...rest);
      last += 1;
      waiting.set(last, { due: now + delay, every: again && delay, call: () => handler(...rest) });
      return last;
    };
  };
  const drop = (name) => {
    const native = window[name].bind(window);
    window[name] = (id) => (waiting.delete(id) ? undefined : native(id));
  };
  hold("setInterval", true);
  hold("setTimeout", false);
  drop("clearInterval");
  drop("clearTimeout");
  const next = (end) => [...waiting].filter(([, one]) => one.due <= end).sort(([, one], [, other]) => one.due - other.due)[0];
  document.addEventListener("move-time", ({ detail }) => {
    const end = now + detail;
    for (let found = next(end); found; found = next(end)) {
      const [id, one] = found;
      now = one.due;
      if (one.every) one.due += one.every;
      else waiting.delete(id);
      one.call();
    }
    now = end;
  });
};
/** Moves the page's time on, from its own world or from an isolated one. */
const moveTime = (page, ms) =>
  page.evaluate((by) => void document.dispatchEvent(new CustomEvent("move-time", { detail: by })), ms);

/** The page anew, as people see it who do not ask for less motion; `still` has the rotation stopped. */
const fresh = async (page, utils, still) => {
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await utils.reload();
  if (still && (await stop(page).count())) await stop(page).click();
  if (!(await eventually(page, async () => SLIDES.includes(await seen(page))))) throw new Error("not one slide is shown");
};

/** Does `act`, and tells whether another slide is shown for it. */
const changes = async (page, act) => {
  const before = await seen(page);
  await act();
  return follows(page, before);
};

/** The one slide that is seen, after the end of a transition that shows two. */
const settled = async (page) => {
  await eventually(page, async () => SLIDES.includes(await seen(page)));
  return seen(page);
};
/** Whether another slide takes the place of this one, and stays: on the way to it, smooth scrolling shows others. */
const follows = (page, before, ms) =>
  eventually(page, async () => {
    const now = await seen(page);
    if (now === before || !SLIDES.includes(now)) return false;
    for (let frame = 0; frame < 6; frame += 1) {
      await page.evaluate(() => new Promise(requestAnimationFrame));
      if ((await seen(page)) !== now) return false;
    }
    return true;
  }, ms);

/** Whether the carousel goes on when time does. A look each four seconds cannot miss it: a round takes fifteen. */
const movesOn = async (page) => {
  const before = await settled(page);
  for (let look = 0; look < 3; look += 1) {
    await moveTime(page, 4_000);
    if (await follows(page, before, 500)) return true;
  }
  return false;
};
/** Whether it goes on in real time: one that counts frames, or many short whiles, does not know of time moved on. */
const goesOn = async (page) => follows(page, await settled(page), 6_500);
/** How it can be seen that the carousel rotates by itself. */
const rotation = async (page) => {
  // twice: the first change may have come in real time, just then
  if ((await movesOn(page)) && (await movesOn(page))) return movesOn;
  if (await goesOn(page)) return goesOn;
  throw new Error("it does not rotate by itself");
};

module.exports.run = async ({ page, assert, utils }) => {
  await page.addInitScript(holdTime);

  await assert("The carousel is a named region or group", async () => {
    await fresh(page, utils, false);
    return (await carousel(page).count()) === 1;
  });

  await assert("Its controls are buttons with names", async () => {
    await fresh(page, utils, false);
    const found = await Promise.all([next, previous, stop].map((button) => button(page).count()));
    return found.every(Boolean);
  });

  await assert("One slide is shown, and the others are hidden from everyone", async () => {
    await fresh(page, utils, true);
    for (const _ of SLIDES) {
      const alone = await eventually(page, async () => {
        const shown = await seen(page);
        return SLIDES.includes(shown) && (await told(page)) === shown;
      });
      if (!alone) return { pass: false, message: `seen: ${await seen(page)}; told: ${await told(page)}` };
      await next(page).click();
    }
    return true;
  });

  await assert("The buttons lead through all slides, and around", async () => {
    await fresh(page, utils, true);
    const visited = [await seen(page)];
    for (const _ of SLIDES) {
      if (!(await changes(page, () => next(page).click()))) return false;
      visited.push(await seen(page));
    }
    if (visited.at(-1) !== visited[0] || new Set(visited).size !== SLIDES.length) return { pass: false, message: visited.join(", ") };
    return (await changes(page, () => previous(page).click())) && (await seen(page)) === visited.at(-2);
  });

  await assert("The buttons work with Enter and Space and keep the focus", async () => {
    await fresh(page, utils, true);
    for (const button of [next(page), previous(page)]) {
      for (const key of ["Enter", "Space"]) {
        await button.focus();
        if (!(await changes(page, () => page.keyboard.press(key)))) return false;
        if (!(await focused(button))) return { pass: false, message: `the focus is lost after ${key}` };
      }
    }
    return true;
  });

  await assert("A button stops the rotation", async () => {
    await fresh(page, utils, false);
    const rotates = await rotation(page);
    await stop(page).click();
    await page.mouse.move(0, 0);
    await stop(page).or(control(page, /start|play|resume|rotat/i)).first().evaluate(() => document.activeElement.blur());
    return !(await rotates(page));
  });

  await assert("The rotation rests while the keyboard's focus is inside", async () => {
    await fresh(page, utils, false);
    const rotates = await rotation(page);
    await next(page).focus();
    return !(await rotates(page));
  });

  await assert("The rotation rests while the pointer is over it", async () => {
    await fresh(page, utils, false);
    const rotates = await rotation(page);
    await carousel(page).hover();
    return !(await rotates(page));
  }, { type: "BP" });

  await assert("The slide that is shown is a named group", async () => {
    await fresh(page, utils, true);
    const heading = page.getByRole("heading", { name: await seen(page) });
    const groups = page.getByRole("group", { name: /\S/ }).or(page.getByRole("tabpanel", { name: /\S/ }));
    return (await carousel(page).locator(groups).filter({ has: heading }).count()) > 0;
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await utils.reload();
  if (await next(page).count()) await next(page).click().catch(() => {}); // what does not open is audited as it is
  return utils.runAxeOnPage(page);
};
