describe("Menu", () => {
  before(async () => {
    await new Promise((done) => setTimeout(done, 20));
    throw new Error("no set-up");
  });
  it("opens", () => {});
});
describe("Tabs", () => {
  it("opens", () => {});
});
