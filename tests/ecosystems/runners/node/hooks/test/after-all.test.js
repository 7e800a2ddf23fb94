const { after, afterEach, before, beforeEach, describe, it } = require("node:test");

describe("Menu", () => {
  after(() => {
    throw new Error("no end");
  });
  it("opens", () => {});
  it("closes", () => {});
});
describe("Tabs", () => {
  it("opens", () => {});
});
