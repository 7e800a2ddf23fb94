import { describe, expect, test } from "vitest";

describe("Menu", () => {
  test("opens", () => {});
});
