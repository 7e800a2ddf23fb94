require("./not-there");

test("never runs", () => {});
