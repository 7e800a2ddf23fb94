require("./not-there");
describe("Broken", () => it("never runs", () => {}));
