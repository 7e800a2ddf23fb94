beforeAll(() => {
  throw new Error("no set-up");
});
describe("Tabs", () => {
  test("opens", () => {});
});
