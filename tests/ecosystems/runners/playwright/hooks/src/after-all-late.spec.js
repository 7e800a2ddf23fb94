import { test } from "@playwright/experimental-ct-react";

test.describe("Menu", () => {
  test.afterAll(async () => {
    await new Promise((done) => setTimeout(done, 20));
    throw new Error("no end");
  });
  test("opens", () => {});
});
test.describe("Tabs", () => {
  test("opens", () => {});
});
