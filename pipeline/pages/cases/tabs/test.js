// APG: tabs, whether a tab is chosen as it gets the focus or only by Enter and Space. What is looked for as a text
// may have any white space between its words.
const TABS = [
  ["Programme", "Hamlet opens on the first of May"],
  ["Tickets", "A seat in the stalls costs 25 euros"],
  ["Access", "A ramp leads to the side entrance"],
];
const NAMES = TABS.map(([name]) => name);

/** Asks frame by frame until `check` gives something true; false when that takes longer than `ms`. */
const eventually = async (page, check, ms = 1500) => {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await check()) return true;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return false;
};

const focused = async (locator) => (await locator.and(locator.page().locator(":focus")).count()) > 0;

/** Whether a text can be seen, and whether assistive technologies are told of it. */
const reach = async (page, text) => {
  const found = page.getByText(text).first();
  if (!(await found.count())) return { seen: false, told: false };
  return found.evaluate((element) => {
    const open = getComputedStyle(element).contentVisibility !== "hidden"; // as with hidden="until-found"
    const rendered = open && element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
    let { left, top, right, bottom } = element.getBoundingClientRect();
    for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
      if (getComputedStyle(box).overflow === "visible") continue;
      const edge = box.getBoundingClientRect();
      left = Math.max(left, edge.left);
      top = Math.max(top, edge.top);
      right = Math.min(right, edge.right);
      bottom = Math.min(bottom, edge.bottom);
    }
    const opaque = element.checkVisibility({ opacityProperty: true });
    return {
      seen: rendered && opaque && right - left > 1 && bottom - top > 1,
      told: rendered && !element.closest("[aria-hidden='true'], [inert]"),
    };
  });
};
const isShown = async (page, text) => Object.values(await reach(page, text)).every(Boolean);
const isHidden = async (page, text) => !Object.values(await reach(page, text)).some(Boolean);

const tab = (page, name) => page.getByRole("tab", { name: new RegExp(name, "i") }).first();

/** Presses an arrow key; where the tabs are below each other, the one that has its place. */
const DOWN = { ArrowRight: "ArrowDown", ArrowLeft: "ArrowUp" };
const press = async (page, key) => {
  const vertical = await page.locator("[role='tablist'][aria-orientation='vertical']").count();
  await page.keyboard.press(vertical ? DOWN[key] : key);
};

/** The names of the tabs that say that they are chosen. */
const chosen = async (page) => {
  const found = [];
  for (const name of NAMES) {
    if (await page.getByRole("tab", { name: new RegExp(name, "i"), selected: true }).count()) found.push(name);
  }
  return found.join();
};
/** The names of the tabs whose panels are shown; `hidden` ones must be hidden from everyone. */
const shows = async (page, name) => {
  for (const [one, text] of TABS) {
    if (!(await (one === name ? isShown : isHidden)(page, text))) return false;
  }
  return true;
};
const becomes = (page, name) =>
  eventually(page, async () => (await chosen(page)) === name && (await shows(page, name)));

const ready = async (page, utils) => {
  await utils.reload();
  for (const name of NAMES) if (!(await tab(page, name).count())) throw new Error(`there is no tab named ${name}`);
};
/** Goes on with Tab until a tab has the focus; gives its name, or nothing. */
const enter = async (page) => {
  for (let press = 0; press < 20; press += 1) {
    await page.keyboard.press("Tab");
    for (const name of NAMES) if (await focused(tab(page, name))) return name;
  }
  return "";
};

module.exports.run = async ({ page, assert, utils }) => {
  await assert("There is a tab list with the three tabs", async () => {
    await utils.reload();
    const counts = await Promise.all(
      NAMES.map((name) => page.getByRole("tablist").getByRole("tab", { name: new RegExp(name, "i") }).count()),
    );
    return { pass: counts.every((count) => count === 1), message: counts.join() };
  });

  await assert("At first Programme is chosen, and only its panel is shown", async () => {
    await ready(page, utils);
    return { pass: await becomes(page, "Programme"), message: `chosen: ${await chosen(page)}` };
  });

  await assert("A click chooses a tab and shows its panel alone", async () => {
    await ready(page, utils);
    for (const name of ["Access", "Tickets", "Programme"]) {
      await tab(page, name).click();
      if (!(await becomes(page, name))) return { pass: false, message: `not so for ${name}` };
    }
    return true;
  });

  await assert("The panel that is shown has the name of its tab", async () => {
    await ready(page, utils);
    for (const [name, text] of TABS) {
      await tab(page, name).click();
      const panel = page.getByRole("tabpanel", { name: new RegExp(name, "i") }).filter({ hasText: text });
      const alone = async () => (await panel.count()) === 1 && (await page.getByRole("tabpanel").count()) === 1;
      if (!(await eventually(page, alone))) return { pass: false, message: `not so for ${name}` };
    }
    return true;
  });

  await assert("The tabs are one stop of the Tab key", async () => {
    await ready(page, utils);
    if ((await enter(page)) !== "Programme") return { pass: false, message: "Tab does not lead to the chosen tab" };
    await page.keyboard.press("Tab");
    for (const name of NAMES) if (await focused(tab(page, name))) return { pass: false, message: `and next to ${name}` };
    return true;
  });

  await assert("The arrow keys go from tab to tab, and around", async () => {
    await ready(page, utils);
    await tab(page, "Programme").focus();
    if (!(await focused(tab(page, "Programme")))) return { pass: false, message: "the tab takes no focus" };
    const way = [["ArrowRight", "Tickets"], ["ArrowRight", "Access"], ["ArrowRight", "Programme"], ["ArrowLeft", "Access"]];
    for (const [key, name] of way) {
      await press(page, key);
      if (!(await eventually(page, () => focused(tab(page, name))))) return { pass: false, message: `${key} does not lead to ${name}` };
    }
    return true;
  });

  await assert("The tab that has the focus can be chosen by keyboard", async () => {
    for (const key of ["Enter", "Space"]) {
      await ready(page, utils);
      await tab(page, "Programme").focus();
      await press(page, "ArrowRight");
      if (!(await eventually(page, () => focused(tab(page, "Tickets"))))) return { pass: false, message: "no tab gets the focus" };
      await page.keyboard.press(key);
      if (!(await becomes(page, "Tickets"))) return { pass: false, message: `not with ${key}` };
    }
    return true;
  });

  await assert("After the tabs comes the panel that is shown", async () => {
    await ready(page, utils);
    await tab(page, "Tickets").click();
    if (!(await becomes(page, "Tickets"))) return { pass: false, message: "its panel is not shown" };
    await tab(page, "Tickets").focus();
    await page.keyboard.press("Tab");
    const panel = page.getByRole("tabpanel").first();
    return (await focused(panel)) || (await panel.locator(":focus").count()) > 0;
  });

  await assert("Home and End lead to the first and the last tab", async () => {
    await ready(page, utils);
    await tab(page, "Programme").focus();
    await page.keyboard.press("End");
    if (!(await eventually(page, () => focused(tab(page, "Access"))))) return false;
    await page.keyboard.press("Home");
    return eventually(page, () => focused(tab(page, "Programme")));
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await utils.reload();
  const tickets = tab(page, "Tickets");
  if (await tickets.count()) await tickets.click().catch(() => {}); // what does not open is audited as it is
  await eventually(page, () => shows(page, "Tickets"), 500);
  return utils.runAxeOnPage(page);
};
