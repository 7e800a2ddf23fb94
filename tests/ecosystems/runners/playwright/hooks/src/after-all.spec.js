import { test } from "@playwright/experimental-ct-react";

test.describe("Menu", () => {
  test.afterAll(() => {
    throw new Error("no end");
  });
  test("opens", () => {});
  test("closes", () => {});
});
test.describe("Tabs", () => {
  test("opens", () => {});
});
