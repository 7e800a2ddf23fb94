const { after, afterEach, before, beforeEach, describe, it } = require("node:test");

after(() => {
  throw new Error("no end");
});
describe("Tabs", () => {
  it("opens", () => {});
});
