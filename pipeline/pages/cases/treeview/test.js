// APG: tree view. The active item has the focus, or the tree names it in aria-activedescendant.
const ITEMS = { Documents: 1, "Budget.txt": 2, "Report.txt": 2, Pictures: 1, "Beach.jpg": 2, "Notes.txt": 1 };
const CLOSED = ["Documents", "Pictures", "Notes.txt"];

/** Asks frame by frame until `check` gives something true; false when that takes longer than `ms`. */
const eventually = async (page, check, ms = 1500) => {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await check()) return true;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return false;
};

const focused = async (locator) => (await locator.and(locator.page().locator(":focus")).count()) > 0;

const tree = (page) => page.getByRole("tree", { name: /files/i }).first();
/** An item whose own text starts with its name, maybe after what it is: an open folder's text goes on with what it
 * holds. */
const item = (page, name) => {
  const start = new RegExp(`^(?:[^\\p{L}]|folder|directory|file|open|closed)*${name.replace(".", "\\.")}`, "iu");
  return tree(page).getByRole("treeitem").filter({ hasText: start }).first();
};
const expanded = async (page, name) => item(page, name).getAttribute("aria-expanded");
const exists = async (page, name) => (await item(page, name).count()) > 0;

/** The name of the active item; empty where none is. */
const active = async (page) => {
  const focus = page.locator(":focus").first();
  if (!(await focus.count())) return "";
  const id = await focus.getAttribute("aria-activedescendant");
  const found = id ? page.locator(`[id="${id}"]`) : focus;
  for (const name of Object.keys(ITEMS)) {
    if (await item(page, name).and(found).count()) return name;
  }
  return "";
};
const becomes = (page, name) => eventually(page, async () => (await active(page)) === name);

const ready = async (page, utils) => {
  await utils.reload();
  if (!(await tree(page).count())) throw new Error("there is no tree named Files");
};
/** Goes into the tree with Tab; the first item is active then. */
const enter = async (page, utils) => {
  await ready(page, utils);
  for (let press = 0; press < 20; press += 1) {
    await page.keyboard.press("Tab");
    if (await active(page)) break;
  }
  if ((await active(page)) !== "Documents") throw new Error("Tab does not lead to the first item");
};
/** Presses one key after the other, each of which makes an item active. */
const walk = async (page, steps) => {
  for (const [key, name] of steps) {
    await page.keyboard.press(key);
    if (!(await becomes(page, name))) return { pass: false, message: `${key} does not lead to ${name}` };
  }
  return true;
};
const opens = (page, name) => eventually(page, async () => (await expanded(page, name)) === "true");
const shuts = (page, name) => eventually(page, async () => (await expanded(page, name)) === "false");

module.exports.run = async ({ page, assert, utils }) => {
  await assert("There is a tree named Files with three items at first", async () => {
    await ready(page, utils);
    const there = await Promise.all(Object.keys(ITEMS).map((name) => exists(page, name)));
    const found = Object.keys(ITEMS).filter((_, place) => there[place]);
    return { pass: found.join() === CLOSED.join(), message: found.join() };
  });

  await assert("Folders tell that they are closed, and files tell nothing of the kind", async () => {
    await ready(page, utils);
    const told = [];
    for (const name of CLOSED) told.push(await expanded(page, name));
    return { pass: told.join() === "false,false,", message: told.join() };
  });

  await assert("A click opens a folder and another one closes it", async () => {
    await ready(page, utils);
    const label = tree(page).getByText("Pictures").first();
    await label.click();
    if (!(await opens(page, "Pictures")) || !(await exists(page, "Beach.jpg"))) return { pass: false, message: "it does not open" };
    await label.click();
    return (await shuts(page, "Pictures")) && !(await exists(page, "Beach.jpg"));
  });

  await assert("What a folder holds is one level below it", async () => {
    await ready(page, utils);
    await tree(page).getByText("Documents").first().click();
    if (!(await eventually(page, () => exists(page, "Report.txt")))) return { pass: false, message: "it does not open" };
    for (const name of ["Documents", "Budget.txt", "Report.txt", "Notes.txt"]) {
      const level = await item(page, name).evaluate((element) => {
        let depth = 1;
        for (let one = element.parentElement; one && one.getAttribute("role") !== "tree"; one = one.parentElement) {
          if (one.getAttribute("role") === "group") depth += 1;
        }
        return Number(element.getAttribute("aria-level") ?? depth);
      });
      if (level !== ITEMS[name]) return { pass: false, message: `${name} is at level ${level}` };
    }
    return true;
  });

  await assert("The tree is one stop of the Tab key", async () => {
    await enter(page, utils);
    await page.keyboard.press("Tab");
    return (await active(page)) === "";
  });

  await assert("Up and Down go through the items that are shown", async () => {
    await enter(page, utils);
    return walk(page, [["ArrowDown", "Pictures"], ["ArrowDown", "Notes.txt"], ["ArrowUp", "Pictures"], ["ArrowUp", "Documents"]]);
  });

  await assert("Right opens a folder and then goes into it", async () => {
    await enter(page, utils);
    await page.keyboard.press("ArrowRight");
    if (!(await opens(page, "Documents"))) return { pass: false, message: "it does not open" };
    if ((await active(page)) !== "Documents") return { pass: false, message: "the folder does not stay active" };
    return walk(page, [["ArrowRight", "Budget.txt"], ["ArrowDown", "Report.txt"], ["ArrowDown", "Pictures"]]);
  });

  await assert("Left goes to the folder and then closes it", async () => {
    await enter(page, utils);
    await page.keyboard.press("ArrowRight");
    if (!(await opens(page, "Documents"))) return { pass: false, message: "it does not open" };
    const way = await walk(page, [["ArrowDown", "Budget.txt"], ["ArrowLeft", "Documents"]]);
    if (way !== true) return way;
    await page.keyboard.press("ArrowLeft");
    return (await shuts(page, "Documents")) && !(await exists(page, "Budget.txt")) && (await active(page)) === "Documents";
  });

  await assert("Home and End lead to the first and the last item", async () => {
    await enter(page, utils);
    return walk(page, [["End", "Notes.txt"], ["Home", "Documents"]]);
  });

  await assert("Enter or Space opens a folder", async () => {
    for (const key of ["Enter", "Space"]) {
      await enter(page, utils);
      await page.keyboard.press(key);
      if (await opens(page, "Documents")) return true;
    }
    return false;
  }, { type: "BP" });

  await assert("A letter leads to the next item that starts with it", async () => {
    await enter(page, utils);
    return walk(page, [["n", "Notes.txt"], ["p", "Pictures"]]);
  }, { type: "BP" });
};

module.exports.runAxe = async ({ page, utils }) => {
  await utils.reload();
  const folder = tree(page).getByText("Documents").first();
  if (await folder.count()) await folder.click().catch(() => {}); // what does not open is audited as it is
  await eventually(page, () => exists(page, "Report.txt"), 500);
  return utils.runAxeOnPage(page);
};
