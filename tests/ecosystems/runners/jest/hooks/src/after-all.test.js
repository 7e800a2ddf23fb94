describe("Menu", () => {
  afterAll(() => {
    throw new Error("no end");
  });
  test("opens", () => {});
  test("closes", () => {});
});
describe("Tabs", () => {
  test("opens", () => {});
});
