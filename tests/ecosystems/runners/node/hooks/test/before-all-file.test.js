const { after, afterEach, before, beforeEach, describe, it } = require("node:test");

before(() => {
  throw new Error("no set-up");
});
describe("Tabs", () => {
  it("opens", () => {});
});
