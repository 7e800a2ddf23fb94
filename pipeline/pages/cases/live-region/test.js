// APG: alert, and status messages (WCAG 4.1.3): a live region that is there before it speaks.
const TEAS = ["Green tea", "Black tea", "Mint tea"];
const LIVE = "[role='status'], [role='alert'], [role='log'], [aria-live='polite'], [aria-live='assertive'], output";
/** The tea and “added”, close to each other, with no other tea between them and any white space between words. */
const added = (tea) => {
  const spaced = (name) => name.replace(" ", "\\s+");
  const between = `(?:(?!${TEAS.map(spaced).join("|")})[^]){0,40}`;
  return new RegExp(`${spaced(tea)}${between}\\badded|\\badded${between}${spaced(tea)}`, "i");
};
/** Whether a line of a rendered text says so. */
const names = (text, tea) => text.split("\n").some((line) => added(tea).test(line));

/** Asks frame by frame until `check` gives something true; false when that takes longer than `ms`. */
const eventually = async (page, check, ms = 1500) => {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await check()) return true;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return false;
};

const focused = async (locator) => (await locator.and(locator.page().locator(":focus")).count()) > 0;

/** Presses Tab until `target` has the focus; false when it never gets it. */
const tabTo = async (page, target, presses = 30) => {
  for (let press = 0; press < presses; press += 1) {
    await page.keyboard.press("Tab");
    if (await focused(target)) return true;
  }
  return false;
};

const button = (page, tea) => page.getByRole("button", { name: new RegExp(`add.*${tea}|${tea}.*add`, "i") });
/** The live regions that assistive technologies are told of; one in which nothing is yet is told of, too. */
const regions = async (page) => {
  const told = await page.locator(LIVE).elementHandles();
  const open = await Promise.all(
    told.map((one) =>
      one.evaluate((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest("[aria-hidden='true'], [inert]")),
    ),
  );
  return told.filter((_, place) => open[place]);
};
/** Whether one of these regions, still in the page, says that a tea was added. */
const says = (page, those, tea) =>
  eventually(page, async () => {
    for (const one of those) {
      const text = await one.evaluate((element) => (element.isConnected ? element.innerText : ""));
      if (names(text, tea)) return true;
    }
    return false;
  });

/** The lines of the page's visible text. */
const lines = async (page) => (await page.locator("body").innerText()).split("\n");

const ready = async (page, utils) => {
  await utils.reload();
  for (const tea of TEAS) if (!(await button(page, tea).count())) throw new Error(`there is no button to add ${tea}`);
  return regions(page);
};

module.exports.run = async ({ page, assert, utils }) => {
  let windows = 0;
  page.on("dialog", (dialog) => {
    windows += 1;
    dialog.dismiss().catch(() => {}); // who runs the test may have closed it
  });

  await assert("The buttons are told apart by their names", async () => {
    await utils.reload();
    const counts = await Promise.all(TEAS.map((tea) => button(page, tea).count()));
    return { pass: counts.every((number) => number === 1), message: counts.join() };
  });

  await assert("A live region is there, and says nothing of the kind yet", async () => {
    const before = await ready(page, utils);
    if (!before.length) return { pass: false, message: "there is none" };
    const texts = await Promise.all(before.map((one) => one.innerText()));
    return !texts.some((text) => TEAS.some((tea) => names(text, tea)));
  });

  await assert("The live region says what was added", async () => {
    const before = await ready(page, utils);
    await button(page, TEAS[0]).first().click();
    return says(page, before, TEAS[0]);
  });

  await assert("It says so for each further tea", async () => {
    const before = await ready(page, utils);
    for (const tea of TEAS) {
      await button(page, tea).first().click();
      if (!(await says(page, before, tea))) return { pass: false, message: `nothing of ${tea}` };
    }
    return true;
  });

  await assert("The message can be seen", async () => {
    await ready(page, utils);
    await button(page, TEAS[1]).first().click();
    return eventually(page, async () => {
      for (const one of await page.getByText(added(TEAS[1])).all()) {
        const box = await one.boundingBox();
        if (!box || box.width <= 5 || box.height <= 5 || !(await one.isVisible())) continue;
        if (names(await one.innerText(), TEAS[1])) return true;
      }
      return false;
    });
  });

  await assert("The page shows how many teas are in the cart", async () => {
    await ready(page, utils);
    let before = await lines(page);
    for (const [place, tea] of TEAS.entries()) {
      await button(page, tea).first().click();
      const number = new RegExp(`\\b(${place + 1}|${["one", "two", "three"][place]})\\b`, "i");
      const counted = await eventually(page, async () => (await lines(page)).some((line) => !before.includes(line) && number.test(line)));
      if (!counted) return { pass: false, message: `not after ${place + 1}` };
      before = await lines(page);
    }
    return true;
  });

  await assert("The focus stays on the button", async () => {
    const before = await ready(page, utils);
    const used = button(page, TEAS[2]).first();
    await used.focus();
    await page.keyboard.press("Enter");
    if (!(await says(page, before, TEAS[2]))) return { pass: false, message: "nothing is said" };
    if (windows) return { pass: false, message: "a window opens" };
    return focused(used);
  });

  await assert("Tab reaches each button, and Enter and Space add", async () => {
    for (const key of ["Enter", "Space"]) {
      const before = await ready(page, utils);
      for (const tea of TEAS) {
        if (!(await tabTo(page, button(page, tea).first()))) return { pass: false, message: `Tab does not reach ${tea}` };
        await page.keyboard.press(key);
        if (!(await says(page, before, tea))) return { pass: false, message: `${key} does not add ${tea}` };
      }
    }
    return true;
  });

  await assert("The message waits until nothing else is spoken", async () => {
    const before = await ready(page, utils);
    await button(page, TEAS[0]).first().click();
    if (!(await says(page, before, TEAS[0]))) return { pass: false, message: "nothing is said" };
    const loud = page.locator("[role='alert'], [aria-live='assertive']").filter({ hasText: added(TEAS[0]) });
    return (await loud.count()) === 0;
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await utils.reload();
  const first = button(page, TEAS[0]).first();
  if (await first.count()) await first.click().catch(() => {}); // what says nothing is audited as it is
  await eventually(page, async () => (await page.getByText(added(TEAS[0])).count()) > 0, 500);
  return utils.runAxeOnPage(page);
};
