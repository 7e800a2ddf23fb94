const assert = require("node:assert");
const { describe, it } = require("node:test");

describe("Menu", () => {
  it("opens", () => {});
  it("opens", () => assert.equal(1, 2));
  it("is slow", () => new Promise((done) => setTimeout(done, 200)));
  it("later", { skip: true }, () => {});
  it("some day", { todo: true }, () => {});
  describe("nested <&>", () => {
    it("deep (12 ms)", () => console.log("    ✔ printed by the test"));
  });
});
