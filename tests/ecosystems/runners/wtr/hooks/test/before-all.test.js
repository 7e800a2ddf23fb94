describe("Menu", () => {
  before(() => {
    throw new Error("no set-up");
  });
  it("opens", () => {});
  it("closes", () => {});
});
describe("Tabs", () => {
  it("opens", () => {});
});
