describe("Menu", () => {
  beforeEach(async () => {
    await new Promise((done) => setTimeout(done, 20));
    throw new Error("not this one");
  });
  test("opens", () => {});
  test("closes", () => {});
});
describe("Tabs", () => {
  test("opens", () => {});
});
