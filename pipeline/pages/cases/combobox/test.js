// APG: combobox with a listbox popup. The active option has the focus, or the field names it in aria-activedescendant.
/** Asks frame by frame until `check` gives something true; false when that takes longer than `ms`. */
const eventually = async (page, check, ms = 1500) => {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await check()) return true;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return false;
};

const focused = async (locator) => (await locator.and(locator.page().locator(":focus")).count()) > 0;

const field = (page) => page.getByRole("combobox", { name: /city/i }).first();
/** The combobox's own list; a select of the page is a listbox, too. */
const list = (page) => page.getByRole("listbox").and(page.locator(":not(select)"));
const options = (page) => list(page).getByRole("option");
const option = (page, name) => list(page).getByRole("option", { name }).first();
const value = (page) => field(page).inputValue();
const isOpen = async (page) => (await options(page).count()) > 0;

/** The option that is active, as a locator; null where none is. */
const active = async (page) => {
  const id = await field(page).getAttribute("aria-activedescendant");
  const found = id ? options(page).and(page.locator(`[id="${id}"]`)) : options(page).and(page.locator(":focus"));
  return (await found.count()) === 1 ? found : null;
};
const activeText = async (page) => (await (await active(page))?.innerText())?.trim() ?? "";

const type = async (page, text) => {
  if (!(await field(page).count())) throw new Error("there is no combobox named City");
  await field(page).focus();
  await page.keyboard.type(text);
};
/** Types, and waits for the list. */
const open = async (page) => {
  await type(page, "ber");
  if (!(await eventually(page, () => isOpen(page)))) throw new Error("typing opens no list of options");
};
/** Types, and goes down until an option is active: where the first one is at once, it stays. */
const choose = async (page) => {
  await open(page);
  if (!(await active(page))) await page.keyboard.press("ArrowDown");
  if (!(await eventually(page, () => active(page)))) throw new Error("no option is active");
};

module.exports.run = async ({ page, assert, utils }) => {
  await assert("The field is a combobox named City", async () => {
    await utils.reload();
    return (await field(page).count()) === 1 && (await field(page).isEditable());
  });

  await assert("Typing offers the cities that match, and no others", async () => {
    await utils.reload();
    await open(page);
    return eventually(page, async () => {
      const offered = (await options(page).allInnerTexts()).map((text) => text.trim()).sort().join();
      return offered === "Berlin,Bern" && (await list(page).count()) === 1;
    });
  });

  await assert("The field tells whether its list is open", async () => {
    await utils.reload();
    if (!(await field(page).count())) return { pass: false, message: "there is no combobox named City" };
    const tells = async (told) => (await field(page).getAttribute("aria-expanded")) === told;
    if (!(await tells("false"))) return { pass: false, message: "not before the list opens" };
    await open(page);
    if (!(await eventually(page, () => tells("true")))) return { pass: false, message: "not while the list is open" };
    await field(page).focus();
    await page.keyboard.press("Escape");
    return eventually(page, () => tells("false"));
  });

  await assert("The arrow keys go through the options", async () => {
    await utils.reload();
    await choose(page);
    const first = await activeText(page);
    await page.keyboard.press("ArrowDown");
    if (!(await eventually(page, async () => ![first, ""].includes(await activeText(page))))) return false;
    await page.keyboard.press("ArrowUp");
    return eventually(page, async () => (await activeText(page)) === first);
  });

  await assert("The active option is marked as selected", async () => {
    await utils.reload();
    await choose(page);
    return eventually(page, async () => (await (await active(page))?.getAttribute("aria-selected")) === "true");
  });

  await assert("Enter takes the active option and closes the list", async () => {
    await utils.reload();
    await choose(page);
    const taken = await activeText(page);
    await page.keyboard.press("Enter");
    return eventually(page, async () => (await value(page)) === taken && !(await isOpen(page)));
  });

  await assert("Escape closes the list and the focus is in the field", async () => {
    await utils.reload();
    await choose(page);
    await page.keyboard.press("Escape");
    return eventually(page, async () => !(await isOpen(page)) && (await focused(field(page))));
  });

  await assert("A click takes an option", async () => {
    await utils.reload();
    await open(page);
    await option(page, "Bern").click();
    return eventually(page, async () => (await value(page)) === "Bern" && !(await isOpen(page)));
  });

  await assert("Tab leaves the field and closes the list", async () => {
    await utils.reload();
    await open(page);
    await page.keyboard.press("Tab");
    return eventually(page, async () => !(await isOpen(page)) && !(await focused(field(page))));
  });

  await assert("What finds no city says so or shows no list", async () => {
    await utils.reload();
    await open(page);
    await page.keyboard.type("xyz");
    return eventually(page, async () => {
      const names = (await options(page).allInnerTexts()).join();
      return !/Amsterdam|Athens|Berlin|Bern|Lisbon|Madrid/.test(names);
    });
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await utils.reload();
  if (await field(page).count()) await open(page).catch(() => {}); // what does not open is audited as it is
  return utils.runAxeOnPage(page);
};
