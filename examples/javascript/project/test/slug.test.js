import assert from "node:assert/strict";
import { test } from "node:test";

import { slug } from "../src/slug.js";

test("words are joined by hyphens", () => {
  assert.equal(slug("  A Night's Work! "), "a-night-s-work");
});

test("nothing but signs gives nothing", () => {
  assert.equal(slug("!?"), "");
});
