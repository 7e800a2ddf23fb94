// APG: menu button. The active item has the focus, or the menu (or its button) names it in aria-activedescendant.
const ITEMS = ["Rename", "Duplicate", "Delete"];

/** Asks frame by frame until `check` gives something true; false when that takes longer than `ms`. */
const eventually = async (page, check, ms = 1500) => {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await check()) return true;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return false;
};

const focused = async (locator) => (await locator.and(locator.page().locator(":focus")).count()) > 0;

/** Buttons with more words, such as “Quick actions”, only count if they open something. */
const button = (page) =>
  page
    .getByRole("button", { name: /^[^\p{L}]*actions[^\p{L}]*$/iu })
    .or(page.getByRole("button", { name: /actions/i }).and(page.locator("[aria-haspopup], [aria-expanded]")))
    .first();
/** Whether a button says that it is expanded. For the button of a popover, the browser says so. */
const isExpanded = (button) =>
  button.evaluate((element) => {
    const commanded = /popover$/.test(element.command) ? element.commandForElement : null;
    const popover = element.popoverTargetElement ?? commanded;
    return (element.getAttribute("aria-expanded") ?? String(popover?.matches(":popover-open"))) === "true";
  });
const menu = (page) => page.getByRole("menu").first();
const item = (page, name) => page.getByRole("menuitem", { name }).first();
const isOpen = async (page) => (await page.getByRole("menuitem").count()) > 0;
const closes = (page) => eventually(page, async () => !(await isOpen(page)));

/** The name of the active item; empty where none is. */
const active = async (page) => {
  const focus = page.locator(":focus").first();
  if (!(await focus.count())) return "";
  const id = await focus.getAttribute("aria-activedescendant");
  const found = id ? page.locator(`[id="${id}"]`) : focus;
  for (const name of ITEMS) {
    if (await page.getByRole("menuitem", { name }).and(found).count()) return name;
  }
  return "";
};
const becomes = (page, name) => eventually(page, async () => (await active(page)) === name);

const ready = async (page, utils) => {
  await utils.reload();
  if (!(await button(page).count())) throw new Error("there is no button named Actions");
};
/** Opens the menu by keyboard and waits until the first item is active. */
const open = async (page, utils, key = "Enter") => {
  await ready(page, utils);
  await button(page).focus();
  await page.keyboard.press(key);
  if (!(await becomes(page, "Rename"))) throw new Error(`after ${key} the first item is not active`);
};

module.exports.run = async ({ page, assert, utils }) => {
  await assert("The button says that it opens a menu", async () => {
    await ready(page, utils);
    return ["menu", "true"].includes(await button(page).getAttribute("aria-haspopup"));
  });

  await assert("A click opens a menu with the three items", async () => {
    await ready(page, utils);
    if (await isOpen(page)) return { pass: false, message: "it is open from the start" };
    await button(page).click();
    return eventually(page, async () => {
      const counts = await Promise.all(ITEMS.map((name) => menu(page).getByRole("menuitem", { name }).count()));
      return counts.every((count) => count === 1);
    });
  });

  await assert("The button tells whether the menu is open", async () => {
    await ready(page, utils);
    if (await isExpanded(button(page))) return { pass: false, message: "it tells so from the start" };
    const handle = await button(page).elementHandle();
    await button(page).click();
    const tells = () => isExpanded(handle);
    if (!(await eventually(page, tells))) return { pass: false, message: "not while it is open" };
    await page.keyboard.press("Escape");
    if (!(await closes(page))) await handle.click(); // without the focus inside, Escape may do nothing
    if (!(await closes(page))) return { pass: false, message: "it does not close" };
    return { pass: await eventually(page, async () => !(await tells())), message: "it still tells so when closed" };
  });

  await assert("Enter and Space open the menu and make the first item active", async () => {
    await open(page, utils, "Enter");
    await open(page, utils, "Space");
    return true;
  });

  await assert("The arrow keys go through the items", async () => {
    await open(page, utils);
    for (const [key, name] of [["ArrowDown", "Duplicate"], ["ArrowDown", "Delete"], ["ArrowUp", "Duplicate"]]) {
      await page.keyboard.press(key);
      if (!(await becomes(page, name))) return { pass: false, message: `${key} does not lead to ${name}` };
    }
    return true;
  });

  await assert("Escape closes the menu and the button has the focus", async () => {
    await open(page, utils);
    await page.keyboard.press("Escape");
    return (await closes(page)) && eventually(page, () => focused(button(page)));
  });

  await assert("Enter chooses the active item", async () => {
    await open(page, utils);
    await page.keyboard.press("ArrowDown");
    if (!(await becomes(page, "Duplicate"))) return { pass: false, message: "the item is not active" };
    await page.keyboard.press("Enter");
    const said = () => page.getByText(/last action:\s*duplicate/i).first().isVisible();
    return (await eventually(page, said)) && closes(page);
  });

  await assert("A click chooses an item", async () => {
    await ready(page, utils);
    await button(page).click();
    if (!(await eventually(page, () => isOpen(page)))) return { pass: false, message: "no menu opens" };
    await item(page, "Delete").click();
    const said = () => page.getByText(/last action:\s*delete/i).first().isVisible();
    return (await eventually(page, said)) && closes(page);
  });

  await assert("Tab leaves the menu and closes it", async () => {
    await open(page, utils);
    await page.keyboard.press("Tab");
    return closes(page);
  });

  await assert("Down Arrow opens the menu", async () => {
    await open(page, utils, "ArrowDown");
    return true;
  }, { type: "BP" });

  await assert("End, Home and a letter lead to an item", async () => {
    await open(page, utils);
    for (const [key, name] of [["End", "Delete"], ["Home", "Rename"], ["d", "Duplicate"]]) {
      await page.keyboard.press(key);
      if (!(await becomes(page, name))) return { pass: false, message: `${key} does not lead to ${name}` };
    }
    return true;
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await utils.reload();
  if (await button(page).count()) await button(page).click().catch(() => {}); // what does not open is audited as it is
  await eventually(page, () => isOpen(page), 500);
  return utils.runAxeOnPage(page);
};
