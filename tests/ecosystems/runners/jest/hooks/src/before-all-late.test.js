describe("Menu", () => {
  beforeAll(async () => {
    await new Promise((done) => setTimeout(done, 20));
    throw new Error("no set-up");
  });
  test("opens", () => {});
});
describe("Tabs", () => {
  test("opens", () => {});
});
