import { test } from "@playwright/experimental-ct-react";

test.describe("Menu", () => {
  test.beforeEach(() => {
    throw new Error("not this one");
  });
  test("opens", () => {});
  test("closes", () => {});
});
test.describe("Tabs", () => {
  test("opens", () => {});
});
