import { describe, expect, test } from "vitest";

describe("Menu", () => {
  test("opens", () => {});
  test("opens", () => {
    expect(1).toBe(2);
  });
  test("is slow", () => new Promise((done) => setTimeout(done, 600)));
  test.skip("later", () => {});
  test.todo("some day");
  describe("nested", () => {
    test("deep (12 ms)", () => {
      console.log("    ✓ printed by the test");
    });
  });
  test("markup", () => {
    expect("<b>").toMatchSnapshot();
  });
});
