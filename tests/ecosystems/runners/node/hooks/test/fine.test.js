const { after, afterEach, before, beforeEach, describe, it } = require("node:test");

describe("Tabs", () => {
  it("opens", () => {});
});
