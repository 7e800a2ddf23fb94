import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "vitest";

describe("Menu", () => {
  afterEach(() => {
    throw new Error("not this one");
  });
  test("opens", () => {});
  test("closes", () => {});
});
describe("Tabs", () => {
  test("opens", () => {});
});
