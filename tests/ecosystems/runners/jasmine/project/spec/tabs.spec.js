describe("Menu", () => {
  it("opens", () => expect({ a: 1 }).toEqual({ a: 1 }));
});
it("stands alone", () => {});
