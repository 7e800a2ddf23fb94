describe("Tabs", function () {
  before(function () {
    throw new Error("no set-up");
  });
  it("opens", function () {});
});

describe("Menu", function () {
  it("opens", function () {});
});
