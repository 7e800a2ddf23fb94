import { expect, test } from "vitest";

test("opens", () => {
  Promise.reject(new Error("nobody waits for this"));
});
// as a negative control does
test("control", () => {
  expect(1).toBe(2);
});
