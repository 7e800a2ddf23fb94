import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "vitest";

describe("Menu", () => {
  beforeAll(() => {
    throw new Error("no set-up");
  });
  test("opens", () => {});
  test("closes", () => {});
});
describe("Tabs", () => {
  test("opens", () => {});
});
