import { test } from "@playwright/experimental-ct-react";

test.afterAll(() => {
  throw new Error("no end");
});
test.describe("Tabs", () => {
  test("opens", () => {});
});
