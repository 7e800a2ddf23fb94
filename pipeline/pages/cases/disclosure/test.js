// APG: disclosure (show/hide).
const RULE = "Quiet hours are from 10 pm to 7 am"; // as a text, it may have any white space between its words

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

const toggle = (page) =>
  page.getByRole("button", { name: /house rules/i }).or(page.locator("summary", { hasText: /house rules/i })).first();

/** true, false, or null for a button that does not tell. For the button of a popover, the browser tells. */
const isOpen = (page) =>
  toggle(page).evaluate((element) => {
    if (element.localName === "summary") return element.parentElement.open;
    const told = { true: true, false: false }[element.getAttribute("aria-expanded")];
    const commanded = /popover$/.test(element.command) ? element.commandForElement : null;
    return told ?? (element.popoverTargetElement ?? commanded)?.matches(":popover-open") ?? null;
  });

const ready = async (page, utils) => {
  await utils.reload();
  if (!(await toggle(page).count())) throw new Error("there is no button named House rules");
};

module.exports.run = async ({ page, assert, utils }) => {
  await assert("There is a button named House rules", async () => {
    await utils.reload();
    return (await toggle(page).count()) === 1;
  });

  await assert("The rules are hidden from everyone at first", async () => {
    await ready(page, utils);
    return eventually(page, () => isHidden(page, RULE));
  });

  await assert("A click shows the rules and another one hides them", async () => {
    await ready(page, utils);
    await toggle(page).click();
    if (!(await eventually(page, () => isShown(page, RULE)))) return { pass: false, message: "they are not shown" };
    await toggle(page).click();
    return eventually(page, () => isHidden(page, RULE));
  });

  await assert("The button tells whether the rules are shown", async () => {
    await ready(page, utils);
    for (const open of [false, true, false]) {
      if (!(await eventually(page, async () => (await isOpen(page)) === open))) {
        return { pass: false, message: `it does not tell ${open}` };
      }
      await toggle(page).click();
    }
    return true;
  });

  await assert("Tab reaches the button", async () => {
    await ready(page, utils);
    return tabTo(page, toggle(page));
  });

  await assert("Enter and Space show and hide the rules", async () => {
    await ready(page, utils);
    for (const key of ["Enter", "Space"]) {
      await toggle(page).focus();
      await page.keyboard.press(key);
      if (!(await eventually(page, () => isShown(page, RULE)))) return { pass: false, message: `${key} does not show` };
      await page.keyboard.press(key);
      if (!(await eventually(page, () => isHidden(page, RULE)))) return { pass: false, message: `${key} does not hide` };
    }
    return true;
  });

  await assert("The button keeps the focus", async () => {
    await ready(page, utils);
    await toggle(page).focus();
    if (!(await focused(toggle(page)))) return { pass: false, message: "it takes none" };
    await page.keyboard.press("Enter");
    await eventually(page, () => isShown(page, RULE));
    return focused(toggle(page));
  });

  await assert("The rules come after the button", async () => {
    await ready(page, utils);
    await toggle(page).click();
    if (!(await eventually(page, () => isShown(page, RULE)))) return { pass: false, message: "they are not shown" };
    const rule = await page.getByText(RULE).first().elementHandle();
    return toggle(page).evaluate(
      (element, other) => Boolean(element.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING),
      rule,
    );
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await utils.reload();
  if (await toggle(page).count()) await toggle(page).click().catch(() => {}); // what does not open is audited as it is
  await eventually(page, () => isShown(page, RULE), 500);
  return utils.runAxeOnPage(page);
};
