import { test } from "@playwright/experimental-ct-react";

test("has a name", () => {});
