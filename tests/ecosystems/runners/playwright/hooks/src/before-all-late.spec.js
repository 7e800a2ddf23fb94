import { test } from "@playwright/experimental-ct-react";

test.describe("Menu", () => {
  test.beforeAll(async () => {
    await new Promise((done) => setTimeout(done, 20));
    throw new Error("no set-up");
  });
  test("opens", () => {});
});
test.describe("Tabs", () => {
  test("opens", () => {});
});
