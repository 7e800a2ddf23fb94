const test = require("node:test");

test("opens", () => {});
test("has parts", async (t) => {
  await t.test("one", () => {});
});
