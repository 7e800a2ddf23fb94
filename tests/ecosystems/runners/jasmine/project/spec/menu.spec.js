describe("Menu", () => {
  it("opens", () => expect(1).toBe(1));
  it("is slow", (done) => setTimeout(done, 600));
  xit("later", () => {});
  it("some day");
  describe("nested", () => {
    it("deep (12 ms)", () => expect([1]).toEqual([1]));
    it("fails", () => {
      console.log("1 spec, 0 failures");
      expect(1).toBe(2);
    });
  });
});
describe("Menu", () => {
  it("opens", () => expect(1).toBe(2));
});
