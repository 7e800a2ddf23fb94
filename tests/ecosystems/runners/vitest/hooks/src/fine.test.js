import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "vitest";

describe("Tabs", () => {
  test("opens", () => {});
});
