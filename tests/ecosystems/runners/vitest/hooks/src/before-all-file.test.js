import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "vitest";

beforeAll(() => {
  throw new Error("no set-up");
});
describe("Tabs", () => {
  test("opens", () => {});
});
