describe("Menu", () => {
  test("opens", () => {});
});
