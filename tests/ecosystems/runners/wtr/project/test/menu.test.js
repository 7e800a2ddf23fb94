describe("Menu", () => {
  it("opens", () => {});
  it("opens", () => {
    throw new Error("1 is not 2");
  });
  it("is shown", () => {
    if (getComputedStyle(document.body).display !== "block") throw new Error("there is no browser");
  });
  it.skip("later", () => {});
  it("some day");
  describe("nested", () => {
    it("deep (12ms)", () => {});
  });
});
it("is alone", () => {});
