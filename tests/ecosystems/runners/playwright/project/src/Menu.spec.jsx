import { expect, test } from "@playwright/experimental-ct-react";
import { Menu } from "./Menu";

test.describe("Menu", () => {
  test("has a name", async ({ mount, page }) => {
    await mount(<Menu label="Main" />);
    await expect(page.getByRole("navigation", { name: "Main" })).toBeAttached();
  });
  test("opens", () => expect(1).toBe(2));
  test.skip("later", () => {});
});
