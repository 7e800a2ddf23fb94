// Errors in a form (WCAG 3.3.1, 3.3.2, 3.3.3): APG's form landmark and alert, and aria-invalid with its message.
const FIELDS = [
  ["Full name", /full name/i, "Ada Fischer"],
  ["Email", /e-?mail/i, "ada@club.example"],
  ["Year of birth", /year of birth/i, "1990"],
];
const THANKS = "thank you for registering"; // as a text, it may have any white space between its words
const WORD = /\p{L}{2}/u;

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

const field = (page, name) =>
  page.getByRole("textbox", { name }).or(page.getByRole("spinbutton", { name })).first();
const register = (page) => page.getByRole("button", { name: /register/i }).first();
const isInvalid = async (locator) => ![null, "", "false"].includes(await locator.getAttribute("aria-invalid"));
const invalid = async (page) => {
  const found = [];
  for (const [label, name] of FIELDS) if (await isInvalid(field(page, name))) found.push(label);
  return found.join();
};
const ALL = FIELDS.map(([label]) => label).join();

/** The rendered texts that belong to a field, in words: its labels, and what it refers to. */
const messages = (locator) =>
  locator.evaluate((element) =>
    ["aria-describedby", "aria-errormessage"]
      .flatMap((name) => (element.getAttribute(name) ?? "").split(/\s+/))
      .map((id) => document.getElementById(id))
      .concat(...(element.labels ?? []))
      .filter((found) => found?.checkVisibility({ visibilityProperty: true }))
      .map((found) => found.innerText.trim())
      .join(" ")
      .trim(),
  );

const ready = async (page, utils) => {
  await utils.reload();
  for (const [label, name] of FIELDS) {
    if (!(await field(page, name).count())) throw new Error(`there is no field with the label ${label}`);
  }
};
const fill = async (page, but = {}) => {
  for (const [label, name, text] of FIELDS) await field(page, name).fill(but[label] ?? text);
};
/** Sends the form as it is, and waits for the errors of these fields. A field that is checked when it is left may show
 * a message then, which moves the button. */
const send = async (page, wrong) => {
  await register(page).focus();
  await register(page).click();
  return eventually(page, async () => (await invalid(page)) === wrong);
};
/** The texts of the live regions that assistive technologies are told of. */
const spoken = (page) =>
  page.locator("[role='alert'], [role='status'], [role='log'], [aria-live='assertive'], [aria-live='polite'], output").evaluateAll((all) =>
    all
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("[aria-hidden='true'], [inert]"))
      .map((one) => one.innerText.trim())
      .filter((text) => /\p{L}{2}/u.test(text)),
  );
const isThanked = (page) => eventually(page, () => page.getByText(THANKS).first().isVisible());

module.exports.run = async ({ page, assert, utils }) => {
  await assert("Each field has its label as its name", async () => {
    await utils.reload();
    for (const [label, name] of FIELDS) {
      if (!(await field(page, name).count())) return { pass: false, message: `there is no field named ${label}` };
    }
    return true;
  });

  await assert("Each field is marked as required", async () => {
    await ready(page, utils);
    for (const [label, name] of FIELDS) {
      const required = await field(page, name).evaluate((element) => element.matches("[required], [aria-required='true']"));
      if (!required) return { pass: false, message: `${label} is not` };
    }
    return true;
  });

  await assert("No field is called invalid before the form is sent", async () => {
    await ready(page, utils);
    if ((await invalid(page)) !== "") return false;
    return { pass: await send(page, ALL), message: "nor afterwards" };
  });

  await assert("Exactly the fields in error are marked invalid", async () => {
    await ready(page, utils);
    await fill(page, { Email: "" });
    if (!(await send(page, "Email"))) return { pass: false, message: `one missing: ${await invalid(page)}` };
    await fill(page, { "Full name": "", "Year of birth": "19" });
    if (!(await send(page, "Full name,Year of birth"))) return { pass: false, message: `other two: ${await invalid(page)}` };
    await fill(page, { Email: "ada" });
    return { pass: await send(page, "Email"), message: `no email address: ${await invalid(page)}` };
  });

  await assert("Each error message belongs to its field", async () => {
    await ready(page, utils);
    const before = {};
    for (const [label, name] of FIELDS) before[label] = await messages(field(page, name));
    await register(page).click();
    for (const [label, name] of FIELDS) {
      const told = await eventually(page, async () => {
        const now = await messages(field(page, name));
        return now !== before[label] && WORD.test(now.replace(before[label], ""));
      });
      if (!told) return { pass: false, message: `${label} has none in words` };
    }
    return true;
  });

  await assert("The errors are brought to the user", async () => {
    await ready(page, utils);
    const before = await spoken(page);
    await register(page).focus();
    await page.keyboard.press("Enter");
    return eventually(page, async () => {
      if (await focused(field(page, FIELDS[0][1]))) return true;
      if ((await spoken(page)).some((text) => !before.includes(text))) return true;
      const summary = page.locator(":focus").and(page.locator(":not(body, html, button, input)"));
      return (await summary.filter({ hasText: /\w/ }).count()) > 0;
    });
  });

  await assert("A corrected field is no longer in error", async () => {
    await ready(page, utils);
    const first = await messages(field(page, FIELDS[1][1]));
    if (!(await send(page, ALL))) return { pass: false, message: `invalid: ${await invalid(page)}` };
    const before = await messages(field(page, FIELDS[1][1]));
    await fill(page, { "Year of birth": "" });
    if (!(await send(page, "Year of birth"))) return { pass: false, message: `invalid: ${await invalid(page)}` };
    return before === first || (await messages(field(page, FIELDS[1][1]))) !== before;
  });

  await assert("The form can be filled and sent by keyboard alone", async () => {
    await ready(page, utils);
    for (const [label, name, text] of FIELDS) {
      if (!(await tabTo(page, field(page, name)))) return { pass: false, message: `Tab does not reach ${label}` };
      await page.keyboard.type(text);
    }
    if (!(await tabTo(page, register(page)))) return { pass: false, message: "Tab does not reach the button" };
    await page.keyboard.press("Enter");
    return isThanked(page);
  });

  await assert("Success is announced or gets the focus", async () => {
    await ready(page, utils);
    await fill(page);
    await register(page).click();
    if (!(await isThanked(page))) return { pass: false, message: "the page does not say it" };
    const live = "[role='alert'], [role='status'], [aria-live='assertive'], [aria-live='polite'], output";
    const entered = ":is(dialog, [role='dialog'], [role='alertdialog']):has(:focus)";
    const heard = page.locator(`${live}, ${entered}, :focus:not(body, html)`);
    return eventually(page, async () => (await heard.filter({ hasText: THANKS }).count()) > 0);
  });

  await assert("Name and email can be filled in by the browser", async () => {
    await ready(page, utils);
    const purpose = (name) => field(page, name).getAttribute("autocomplete");
    return (await purpose(FIELDS[0][1])) === "name" && (await purpose(FIELDS[1][1])) === "email";
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await utils.reload();
  if (await register(page).count()) await register(page).click().catch(() => {}); // what does not answer is audited as it is
  await eventually(page, async () => (await page.locator("[aria-invalid='true']").count()) > 0, 500);
  return utils.runAxeOnPage(page);
};
