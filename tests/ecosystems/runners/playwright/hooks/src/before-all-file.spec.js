import { test } from "@playwright/experimental-ct-react";

test.beforeAll(() => {
  throw new Error("no set-up");
});
test.describe("Tabs", () => {
  test("opens", () => {});
});
