describe("Tabs", () => {
  it("opens", () => expect(1).toBe(1));
});
