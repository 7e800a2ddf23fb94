import "./not-there.js";
it("opens", () => {});
