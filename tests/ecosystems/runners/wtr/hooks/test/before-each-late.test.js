describe("Menu", () => {
  beforeEach(async () => {
    await new Promise((done) => setTimeout(done, 20));
    throw new Error("not this one");
  });
  it("opens", () => {});
  it("closes", () => {});
});
describe("Tabs", () => {
  it("opens", () => {});
});
