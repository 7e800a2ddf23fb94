describe("Menu", () => {
  after(async () => {
    await new Promise((done) => setTimeout(done, 20));
    throw new Error("no end");
  });
  it("opens", () => {});
});
describe("Tabs", () => {
  it("opens", () => {});
});
