describe("Tabs", () => {
  test("opens", () => {});
});
