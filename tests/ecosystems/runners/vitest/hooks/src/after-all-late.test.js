import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "vitest";

describe("Menu", () => {
  afterAll(async () => {
    await new Promise((done) => setTimeout(done, 20));
    throw new Error("no end");
  });
  test("opens", () => {});
});
describe("Tabs", () => {
  test("opens", () => {});
});
