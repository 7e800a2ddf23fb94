afterAll(() => {
  throw new Error("no end");
});
describe("Tabs", () => {
  test("opens", () => {});
});
