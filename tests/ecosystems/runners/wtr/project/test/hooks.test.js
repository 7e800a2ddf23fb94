describe("Tabs", () => {
  before(() => {
    throw new Error("no set-up");
  });
  it("opens", () => {});
});

describe("Menu", () => {
  it("opens", () => {});
});
