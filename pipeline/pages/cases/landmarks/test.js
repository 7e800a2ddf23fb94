// APG: landmarks, and a skip link (WCAG 2.4.1).
/** Asks frame by frame until `check` gives something true; false when that takes longer than `ms`. */
const eventually = async (page, check, ms = 1500) => {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await check()) return true;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return false;
};

const focused = async (locator) => (await locator.and(locator.page().locator(":focus")).count()) > 0;

const count = (page, role) => page.getByRole(role).count();
const main = (page) => page.getByRole("main").first();
const focusedLink = (page) => page.getByRole("link").and(page.locator(":focus"));

/** Presses Tab once and gives the link that has the focus then, which is to be named as a skip link. */
const skipLink = async (page, utils) => {
  await utils.reload();
  await page.keyboard.press("Tab");
  const named = page.getByRole("link", { name: /skip|jump|go to|main|content/i }).and(page.locator(":focus"));
  if (!(await named.count())) throw new Error("the first thing that Tab reaches is no skip link");
  return named;
};

/** Whether the main content, or something in it, has the focus. */
const inMain = async (page) =>
  (await main(page).locator(":focus").count()) > 0 || ((await main(page).count()) > 0 && (await focused(main(page))));

module.exports.run = async ({ page, assert, utils }) => {
  await assert("There is one banner, one main and one contentinfo", async () => {
    await utils.reload();
    const counts = await Promise.all(["banner", "main", "contentinfo"].map((role) => count(page, role)));
    return { pass: counts.every((number) => number === 1), message: counts.join() };
  });

  await assert("The search is a search landmark with a named field and a button", async () => {
    await utils.reload();
    const search = page.getByRole("search");
    const named = { name: /\S/ };
    const field = search.getByRole("searchbox", named).or(search.getByRole("textbox", named)).or(search.getByRole("combobox", named));
    const counts = await Promise.all([search, field, search.getByRole("button", named)].map((one) => one.count()));
    return { pass: counts[0] === 1 && counts[1] > 0 && counts[2] > 0, message: counts.join() };
  });

  await assert("The navigations are told apart by their names", async () => {
    await utils.reload();
    const all = await count(page, "navigation");
    const named = page.getByRole("navigation", { name: /\S/ });
    if (all < 2 || (await named.count()) < all) return { pass: false, message: `${await named.count()} of ${all} have a name` };
    const trees = await Promise.all((await named.all()).map((one) => one.ariaSnapshot()));
    const names = new Set(trees.map((tree) => /navigation "(.*?)"/.exec(tree)?.[1].toLowerCase()));
    return { pass: names.size === all, message: [...names].join() };
  });

  await assert("The main navigation holds at least three links", async () => {
    await utils.reload();
    const counts = await Promise.all((await page.getByRole("navigation").all()).map((one) => one.getByRole("link").count()));
    return Math.max(0, ...counts) >= 3;
  });

  await assert("A navigation holds the links about the library", async () => {
    await utils.reload();
    const link = (name) => page.getByRole("link", { name });
    const about = page.getByRole("navigation").filter({ has: link(/imprint/i) }).filter({ has: link(/contact/i) });
    return (await about.count()) > 0;
  });

  await assert("The news items with their links are in main", async () => {
    await utils.reload();
    const links = await main(page).getByRole("link").count();
    return { pass: links >= 3, message: `${links} links` };
  });

  await assert("The copyright line is in contentinfo", async () => {
    await utils.reload();
    return (await page.getByRole("contentinfo").filter({ hasText: /©|copyright|\(c\)/i }).count()) === 1;
  });

  await assert("The opening hours are a complementary landmark outside of main", async () => {
    await utils.reload();
    const aside = page.getByRole("complementary").filter({ hasText: /open/i });
    return (await aside.count()) === 1 && (await main(page).getByRole("complementary").count()) === 0;
  });

  await assert("The first thing that Tab reaches is a link named as a skip link", async () => {
    return Boolean(await skipLink(page, utils));
  });

  await assert("The skip link can be seen while it has the focus", async () => {
    const link = await skipLink(page, utils);
    return eventually(page, () =>
      link.evaluate((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        if (width < 10 || height < 10) return false;
        const hit = document.elementFromPoint(left + width / 2, top + height / 2);
        return Boolean(hit) && (element.contains(hit) || hit.contains(element)) &&
          element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      }),
    );
  });

  await assert("After the skip link, Tab goes on in the main content", async () => {
    await skipLink(page, utils);
    await page.keyboard.press("Enter");
    await eventually(page, async () => !(await focusedLink(page).count()), 300);
    if (!(await inMain(page)) || (await focused(main(page)))) await page.keyboard.press("Tab");
    return eventually(page, () => inMain(page));
  });

  await assert("The page has one first-level heading, in main", async () => {
    await utils.reload();
    const heading = { level: 1 };
    return (await page.getByRole("heading", heading).count()) === 1 && (await main(page).getByRole("heading", heading).count()) === 1;
  });

  await assert("The headings leave out no level", async () => {
    await utils.reload();
    if ((await count(page, "heading")) === 0) return { pass: false, message: "there is no heading" };
    const tree = await page.locator("body").ariaSnapshot();
    const levels = [...tree.matchAll(/heading .*?\[level=(\d)\]/g)].map(([, level]) => Number(level));
    return { pass: levels.length > 1 && levels.every((level, place) => !place || level <= levels[place - 1] + 1), message: levels.join() };
  }, { type: "BP" });
};
