var assert = require("assert");

describe("Menu", function () {
  it("opens", function () {});
  it("opens", function () {
    assert.equal(1, 2);
  });
  it("is slow", function (done) {
    setTimeout(done, 200);
  });
  it.skip("later", function () {});
  it("some day");
  describe("nested", function () {
    it("deep (12ms)", function () {
      console.log("    ✓ printed by the test");
    });
  });
});
