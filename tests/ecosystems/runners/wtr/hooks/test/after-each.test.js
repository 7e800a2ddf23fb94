describe("Menu", () => {
  afterEach(() => {
    throw new Error("not this one");
  });
  it("opens", () => {});
  it("closes", () => {});
});
describe("Tabs", () => {
  it("opens", () => {});
});
