// APG: table, sortable. What aria-sort says must be the order of the rows.
const CITIES = { Athens: 643452, Bern: 134506, Lisbon: 545796, Madrid: 3280782 };
const ORDER = {
  City: Object.keys(CITIES).sort(),
  Inhabitants: Object.keys(CITIES).sort((one, other) => CITIES[one] - CITIES[other]),
};

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

const table = (page) => page.getByRole("table").or(page.getByRole("grid")).first();
const header = (page, name) => table(page).getByRole("columnheader", { name: new RegExp(name, "i") }).first();
const sorter = (page, name) => header(page, name).getByRole("button").first();

/** The cities in the order of the rows. */
const rows = async (page) => {
  const texts = await table(page).getByRole("row").allTextContents(); // as written: styles may show capitals
  const cityIn = (text) => Object.keys(CITIES).find((city) => text.toLowerCase().includes(city.toLowerCase()));
  return texts.map(cityIn).filter(Boolean).join();
};
/** The headers that say that they are sorted by, with the direction. */
const sorted = async (page) => {
  const found = [];
  for (const one of await table(page).getByRole("columnheader").all()) {
    const direction = await one.getAttribute("aria-sort");
    if (!direction || direction === "none") continue;
    const text = (await one.textContent()).toLowerCase();
    const name = ["City", "Country", "Inhabitants"].find((known) => text.includes(known.toLowerCase()));
    found.push(`${name} ${direction}`);
  }
  return found.join();
};
/** Whether exactly this column says that it is sorted by, in a direction in which the rows are. */
const isSortedBy = async (page, name, direction) => {
  const [up, down] = [ORDER[name].join(), [...ORDER[name]].reverse().join()];
  const ways = { [`${name} ascending`]: up, [`${name} descending`]: down };
  const told = await sorted(page);
  if (direction && told !== `${name} ${direction}`) return false;
  return ways[told] !== undefined && (await rows(page)) === ways[told];
};

const ready = async (page, utils) => {
  await utils.reload();
  for (const name of ["City", "Country", "Inhabitants"]) {
    if (!(await header(page, name).count())) throw new Error(`there is no column header ${name}`);
  }
};

module.exports.run = async ({ page, assert, utils }) => {
  await assert("The table has a name", async () => {
    await utils.reload();
    const named = { name: /\S/ };
    return (await page.getByRole("table", named).or(page.getByRole("grid", named)).count()) === 1;
  });

  await assert("The columns have headers", async () => {
    await ready(page, utils);
    return (await table(page).getByRole("columnheader").count()) >= 3;
  });

  await assert("Exactly the headers of the sortable columns have buttons", async () => {
    await ready(page, utils);
    const counts = await Promise.all(
      ["City", "Inhabitants", "Country"].map((name) => header(page, name).getByRole("button").count()),
    );
    return { pass: counts.join() === "1,1,0", message: counts.join() };
  });

  await assert("At first the rows are sorted by city, and the header says so", async () => {
    await ready(page, utils);
    return { pass: await eventually(page, () => isSortedBy(page, "City", "ascending")), message: `${await sorted(page)}: ${await rows(page)}` };
  });

  await assert("A press sorts by inhabitants, and only that header says so", async () => {
    await ready(page, utils);
    await sorter(page, "Inhabitants").click();
    return { pass: await eventually(page, () => isSortedBy(page, "Inhabitants")), message: `${await sorted(page)}: ${await rows(page)}` };
  });

  await assert("A second press turns the order around", async () => {
    await ready(page, utils);
    await sorter(page, "Inhabitants").click();
    if (!(await eventually(page, () => isSortedBy(page, "Inhabitants")))) return { pass: false, message: "the first does not sort" };
    const [way, order] = [await sorted(page), await rows(page)];
    await sorter(page, "Inhabitants").click();
    const other = way.endsWith("ascending") ? "descending" : "ascending";
    const turned = async () => (await isSortedBy(page, "Inhabitants", other)) && (await rows(page)) !== order;
    if (!(await eventually(page, turned))) return { pass: false, message: "not by inhabitants" };
    await sorter(page, "City").click();
    if (!(await eventually(page, () => isSortedBy(page, "City")))) return { pass: false, message: "City does not sort" };
    const back = (await sorted(page)).endsWith("ascending") ? "descending" : "ascending";
    await sorter(page, "City").click();
    return { pass: await eventually(page, () => isSortedBy(page, "City", back)), message: "not by city" };
  });

  await assert("Tab reaches the buttons, and Enter and Space sort", async () => {
    for (const key of ["Enter", "Space"]) {
      await ready(page, utils);
      if (!(await tabTo(page, sorter(page, "City")))) return { pass: false, message: "Tab does not reach City" };
      if (!(await tabTo(page, sorter(page, "Inhabitants")))) return { pass: false, message: "Tab does not reach Inhabitants" };
      await page.keyboard.press(key);
      if (!(await eventually(page, () => isSortedBy(page, "Inhabitants")))) return { pass: false, message: `not with ${key}` };
    }
    return true;
  });

  await assert("The focus stays on the button", async () => {
    await ready(page, utils);
    await sorter(page, "Inhabitants").focus();
    await page.keyboard.press("Enter");
    if (!(await eventually(page, () => isSortedBy(page, "Inhabitants")))) return { pass: false, message: "it does not sort" };
    return focused(sorter(page, "Inhabitants"));
  });

  await assert("The cities are row headers", async () => {
    await ready(page, utils);
    const counts = await Promise.all(Object.keys(CITIES).map((name) => table(page).getByRole("rowheader", { name }).count()));
    return counts.every((count) => count === 1);
  }, { type: "BP" });
};
