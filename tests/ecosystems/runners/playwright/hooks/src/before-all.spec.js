import { test } from "@playwright/experimental-ct-react";

test.describe("Menu", () => {
  test.beforeAll(() => {
    throw new Error("no set-up");
  });
  test("opens", () => {});
  test("closes", () => {});
});
test.describe("Tabs", () => {
  test("opens", () => {});
});
