import { test } from "@playwright/experimental-ct-react";

test.describe("Menu", () => {
  test.beforeEach(async () => {
    await new Promise((done) => setTimeout(done, 20));
    throw new Error("not this one");
  });
  test("opens", () => {});
  test("closes", () => {});
});
test.describe("Tabs", () => {
  test("opens", () => {});
});
