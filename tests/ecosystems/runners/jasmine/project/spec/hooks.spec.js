describe("Tabs", () => {
  afterAll(() => {
    throw new Error("no end");
  });
  it("closes", () => {});
});
