describe("Tabs", () => {
  it("opens", () => {});
});
