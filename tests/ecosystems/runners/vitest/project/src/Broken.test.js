import { describe, expect, test } from "vitest";

import "./not-there";

test("never runs", () => {});
