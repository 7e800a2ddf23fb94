describe("Menu", () => {
  afterAll(() => {
    throw new Error("no end");
  });
  it("opens", () => {});
  it("closes", () => {});
});
describe("Tabs", () => {
  it("opens", () => {});
});
