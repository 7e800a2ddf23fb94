import { test } from "@playwright/experimental-ct-react";

test.describe("Tabs", () => {
  test("opens", () => {});
});
