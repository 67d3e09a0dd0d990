// What is looked for, marked where it stands. Text stays text: nothing of it is read as HTML.

import { html } from "./vendor/preact-htm.js";

const IN_PATTERNS = /[\\^$.*+?()[\]{}|/]/g;

const pattern = (q) => new RegExp(q.replace(IN_PATTERNS, "\\$&"), "giu");

// Where it first stands in a text, or -1.
export const firstHit = (text, q) => (q ? text.search(pattern(q)) : -1);

// A page is no place for thousands of marks: what comes after the last of them is drawn plain.
export function Marked({ text, q, most = 200 }) {
  if (!q || !text) return text;
  const drawn = [];
  let end = 0;
  for (const hit of text.matchAll(pattern(q))) {
    if (drawn.length >= 2 * most) break;
    drawn.push(text.slice(end, hit.index), html`<mark>${hit[0]}</mark>`);
    end = hit.index + hit[0].length;
  }
  return [...drawn, text.slice(end)];
}
