import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "vitest";

describe("Menu", () => {
  afterAll(() => {
    throw new Error("no end");
  });
  test("opens", () => {});
  test("closes", () => {});
});
describe("Tabs", () => {
  test("opens", () => {});
});
