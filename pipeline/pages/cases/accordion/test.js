// APG: accordion. What is looked for as a text may have any white space between its words.
const SECTIONS = [
  [/prices/i, "A city bike costs 18 euros a day"],
  [/opening hours/i, "We are open from 9 am to 6 pm"],
  [/cancellation/i, "You can cancel free of charge until the day before"],
];

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

/** The button of a section: in a heading or around one, or with no other words in its name. */
const header = (page, name) => {
  const headings = ":is(h1, h2, h3, h4, h5, h6, [role='heading'])";
  const buttons = ":is(button, [role='button'])";
  const exact = new RegExp(`^[^\\p{L}]*${name.source}[^\\p{L}]*$`, "iu");
  return page
    .getByRole("button", { name })
    .and(page.locator(`${headings} ${buttons}, ${buttons}:has(${headings})`))
    .or(page.getByRole("button", { name: exact }))
    .or(page.locator("summary", { hasText: name }))
    .first();
};

/** true, false, or null for a header that does not tell. */
const isOpen = (toggle) =>
  toggle.evaluate((element) => {
    if (element.localName === "summary") return element.parentElement.open;
    return { true: true, false: false }[element.getAttribute("aria-expanded")] ?? null;
  });

const each = async (page, check) => {
  for (const [name, text] of SECTIONS) {
    const toggle = header(page, name);
    if (!(await toggle.count())) return { pass: false, message: `there is no header ${name}` };
    if (!(await check(toggle, text))) return { pass: false, message: `not so for ${name}` };
  }
  return true;
};

module.exports.run = async ({ page, assert, utils }) => {
  await assert("Each section has a button in a heading", async () => {
    await utils.reload();
    const headings = "h1, h2, h3, h4, h5, h6, [role='heading']";
    return each(page, (toggle) =>
      toggle.evaluate((element, those) => Boolean(element.closest(those) || element.querySelector(those)), headings),
    );
  });

  await assert("Closed sections are hidden from everyone", async () => {
    await utils.reload();
    return each(page, (_, text) => eventually(page, () => isHidden(page, text)));
  });

  await assert("A click opens a section and another one closes it", async () => {
    await utils.reload();
    return each(page, async (toggle, text) => {
      await toggle.click();
      if (!(await eventually(page, () => isShown(page, text)))) return false;
      await toggle.click();
      return eventually(page, () => isHidden(page, text));
    });
  });

  await assert("Each header tells whether its section is open", async () => {
    await utils.reload();
    return each(page, async (toggle) => {
      if ((await isOpen(toggle)) !== false) return false;
      await toggle.click();
      if (!(await eventually(page, async () => (await isOpen(toggle)) === true))) return false;
      await toggle.click();
      return eventually(page, async () => (await isOpen(toggle)) === false);
    });
  });

  await assert("Tab reaches each header in order", async () => {
    await utils.reload();
    return each(page, (toggle) => tabTo(page, toggle));
  });

  await assert("Enter and Space open and close each section", async () => {
    await utils.reload();
    return each(page, async (toggle, text) => {
      for (const key of ["Enter", "Space"]) {
        await toggle.focus();
        await page.keyboard.press(key);
        if (!(await eventually(page, () => isShown(page, text)))) return false;
        await page.keyboard.press(key);
        if (!(await eventually(page, () => isHidden(page, text)))) return false;
      }
      return true;
    });
  });

  await assert("Focus stays on the header that is used", async () => {
    await utils.reload();
    return each(page, async (toggle, text) => {
      await toggle.focus();
      if (!(await focused(toggle))) return false;
      await page.keyboard.press("Enter");
      await eventually(page, () => isShown(page, text));
      return focused(toggle);
    });
  });

  await assert("The headings have one level", async () => {
    await utils.reload();
    const levels = new Set();
    const all = await each(page, async (toggle) => {
      const level = await toggle.evaluate((element) => {
        const those = "h1, h2, h3, h4, h5, h6, [role='heading']";
        const heading = element.closest(those) || element.querySelector(those);
        return heading && (heading.getAttribute("aria-level") || heading.localName.slice(1));
      });
      levels.add(level);
      return Boolean(level);
    });
    return all === true ? levels.size === 1 : all;
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await utils.reload();
  for (const [name, text] of SECTIONS) {
    const toggle = header(page, name);
    if (await toggle.count()) await toggle.click().catch(() => {}); // what does not open is audited as it is
    await eventually(page, () => isShown(page, text), 500);
  }
  return utils.runAxeOnPage(page);
};
