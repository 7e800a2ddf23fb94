import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "vitest";

afterAll(() => {
  throw new Error("no end");
});
describe("Tabs", () => {
  test("opens", () => {});
});
