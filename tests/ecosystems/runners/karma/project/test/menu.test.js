describe("Menu", () => {
  it("opens", () => expect(1).toBe(1));
  it("opens (12 ms)", () => expect(1).toBe(2));
  xit("later", () => {});
  describe("nested", () => {
    it("deep", () => expect(1).toBe(1));
  });
});
