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
