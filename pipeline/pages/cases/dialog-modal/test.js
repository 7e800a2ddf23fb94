// APG: dialog (modal). An alertdialog is one too.
const CLOSING = ["Cancel", "Delete"];

/** Asks frame by frame until `check` gives something true; false when that takes longer than `ms`. */
const eventually = async (page, check, ms = 1500) => {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await check()) return true;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return false;
};

const focused = async (locator) => (await locator.and(locator.page().locator(":focus")).count()) > 0;

/** The button; its name may go on with what it opens. */
const trigger = (page) => page.getByRole("button", { name: /^[^\p{L}]*delete account[^\p{L}]*(opens? .*)?$/iu }).first();
const dialog = (page) => page.getByRole("dialog").or(page.getByRole("alertdialog")).first();
const isOpen = async (page) => (await dialog(page).count()) > 0;
const inside = async (page) =>
  (await dialog(page).locator(":focus").count()) > 0 || (await focused(dialog(page)));
const closes = (page) => eventually(page, async () => !(await isOpen(page)));

/** Opens the dialog and gives the button, which the dialog may hide. */
const open = async (page, utils) => {
  await utils.reload();
  if (!(await trigger(page).count())) throw new Error("there is no button named Delete account");
  if (await isOpen(page)) throw new Error("the dialog is open before it is asked for");
  const button = await trigger(page).elementHandle();
  await trigger(page).focus();
  await trigger(page).click();
  if (!(await eventually(page, () => isOpen(page)))) throw new Error("no dialog opens");
  return button;
};

module.exports.run = async ({ page, assert, utils }) => {
  await assert("A click opens a dialog that has the title as its name", async () => {
    await open(page, utils);
    const name = /delete your account/i;
    return (await page.getByRole("dialog", { name }).or(page.getByRole("alertdialog", { name })).count()) === 1;
  });

  await assert("Enter and Space open the dialog", async () => {
    for (const key of ["Enter", "Space"]) {
      await utils.reload();
      if (!(await trigger(page).count())) return { pass: false, message: "there is no button named Delete account" };
      await trigger(page).focus();
      if (!(await focused(trigger(page)))) return { pass: false, message: "the button takes no focus" };
      await page.keyboard.press(key);
      if (!(await eventually(page, () => isOpen(page)))) return { pass: false, message: `not ${key}` };
    }
    return true;
  });

  await assert("The focus moves into the dialog", async () => {
    await open(page, utils);
    return eventually(page, () => inside(page));
  });

  await assert("Tab does not leave the dialog for the page", async () => {
    await open(page, utils);
    if (!(await eventually(page, () => inside(page)))) return { pass: false, message: "the focus is not inside" };
    for (const key of ["Tab", "Shift+Tab"]) {
      const stops = new Set();
      for (let press = 0; press < 8; press += 1) {
        await page.keyboard.press(key);
        // between the last and the first stop the browser itself may have the focus
        const outside = page.locator(":focus").and(page.locator(":not(body, html)"));
        if ((await outside.count()) && !(await inside(page))) return { pass: false, message: `${key} leaves it` };
        for (const name of ["Cancel", "Delete"]) {
          if (await focused(dialog(page).getByRole("button", { name }).first())) stops.add(name);
        }
      }
      if (stops.size < 2) return { pass: false, message: `${key} does not reach both buttons` };
    }
    return true;
  });

  await assert("What is behind the dialog is out of reach", async () => {
    const button = await open(page, utils);
    const told = await dialog(page).evaluate((element) => element.matches(":modal, [aria-modal='true']"));
    const state = await button.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const hit = document.elementFromPoint(left + width / 2, top + height / 2);
      return {
        hidden: !element.checkVisibility({ visibilityProperty: true }) || Boolean(element.closest("[aria-hidden='true'], [inert]")),
        hit: Boolean(hit) && element.contains(hit),
      };
    });
    if (!told && !state.hidden) return { pass: false, message: "assistive technologies are not told" };
    return { pass: !state.hit, message: state.hit ? "the pointer reaches the page" : undefined };
  });

  await assert("Escape closes the dialog", async () => {
    await open(page, utils);
    await page.keyboard.press("Escape");
    return closes(page);
  });

  await assert("Cancel and Delete close the dialog by pointer and by keyboard", async () => {
    for (const name of CLOSING) {
      const button = dialog(page).getByRole("button", { name }).first();
      await open(page, utils);
      await button.click();
      if (!(await closes(page))) return { pass: false, message: `${name}: not by pointer` };
      for (const key of ["Enter", "Space"]) {
        await open(page, utils);
        await button.focus();
        await page.keyboard.press(key);
        if (!(await closes(page))) return { pass: false, message: `${name}: not with ${key}` };
      }
    }
    return true;
  });

  await assert("The focus goes back to the button that opened the dialog", async () => {
    await open(page, utils);
    await dialog(page).getByRole("button", { name: "Cancel" }).first().click();
    if (!(await closes(page))) return { pass: false, message: "it does not close" };
    return eventually(page, () => focused(trigger(page)));
  });

  await assert("The focus does not start on what cannot be undone", async () => {
    await open(page, utils);
    if (!(await eventually(page, () => inside(page)))) return { pass: false, message: "the focus is not inside" };
    return !(await focused(dialog(page).getByRole("button", { name: /^(?!.*close).*delete/i }).first()));
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await open(page, utils).catch(() => {}); // what does not open is audited as it is
  return utils.runAxeOnPage(page);
};
