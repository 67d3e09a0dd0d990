// A unified diff as two columns, drawn as text alone.

import { html, useMemo, useState } from "./vendor/preact-htm.js";

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/;
const MOST_LINES = 200;

export function readDiff(text) {
  const files = [];
  let file = null;
  let left = 0;
  let right = 0;
  for (const line of text.split("\n")) {
    const hunk = HUNK.exec(line);
    if (line.startsWith("diff --git ")) {
      file = { name: nameOf(line), rows: [], added: 0, removed: 0, note: "" };
      files.push(file);
    } else if (!file) {
      continue;
    } else if (hunk) {
      [left, right] = [Number(hunk[1]), Number(hunk[2])];
      file.rows.push({ kind: "hunk", text: line });
    } else if (!file.rows.length) {
      if (/^(new file|deleted file|Binary|rename)/.test(line)) file.note = line;
    } else if (line.startsWith("+")) {
      file.added += 1;
      place(file.rows, { right: right++, after: line.slice(1) });
    } else if (line.startsWith("-")) {
      file.removed += 1;
      file.rows.push({ kind: "change", left: left++, before: line.slice(1) });
    } else if (line.startsWith(" ")) {
      const same = line.slice(1);
      file.rows.push({ kind: "same", left: left++, right: right++, before: same, after: same });
    }
  }
  return files;
}

// An added line stands beside the first removed line of its run that has no partner yet.
function place(rows, added) {
  let at = rows.length;
  while (at > 0 && rows[at - 1].kind === "change" && rows[at - 1].after === undefined) at -= 1;
  if (at < rows.length) Object.assign(rows[at], added);
  else rows.push({ kind: "change", ...added });
}

function nameOf(line) {
  const found = / b\/(.*)$/.exec(line);
  return found ? found[1] : line.slice("diff --git ".length);
}

function Line({ row, side }) {
  if (row.kind === "hunk") return html`<tr class="hunk"><td colspan=${side ? 2 : 4}>${row.text}</td></tr>`;
  const changed = row.kind === "change";
  return html`<tr class=${row.kind}>
    ${side !== "new" && html`<td class="number">${row.left}</td>
      <td class=${changed && row.before !== undefined ? "text before" : "text"}>${row.before}</td>`}
    ${side !== "old" && html`<td class="number">${row.right}</td>
      <td class=${changed && row.after !== undefined ? "text after" : "text"}>${row.after}</td>`}
  </tr>`;
}

function Columns({ side }) {
  const pair = html`<col class="number" /><col />`;
  return html`<colgroup>${!side && pair}${pair}</colgroup>`;
}

function File({ file }) {
  const [open, setOpen] = useState(true);
  const [shown, setShown] = useState(MOST_LINES);
  const left = file.rows.length - shown;
  // Where nothing was taken away, or nothing added, one column says it all.
  const side = file.removed === 0 ? "new" : file.added === 0 ? "old" : "";
  return html`<section class="file">
    <button class="file-name" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      <span>${file.name}</span>
      <span class="counts">+${file.added} −${file.removed}${file.note.startsWith("new file") ? " new" : ""}</span>
    </button>
    ${open && html`<table class="diff">
      <${Columns} side=${side} />
      <tbody>${file.rows.slice(0, shown).map((row, at) => html`<${Line} key=${at} row=${row} side=${side} />`)}</tbody>
    </table>`}
    ${open && left > 0 && html`<button class="link more" onClick=${() => setShown(shown + 10 * MOST_LINES)}>show ${Math.min(left, 10 * MOST_LINES)} more lines</button>`}
  </section>`;
}

export function Diff({ text, about }) {
  const files = useMemo(() => readDiff(text), [text]);
  return html`<p class="quiet">${about}</p>
    <div class="files">${files.map((file) => html`<${File} key=${file.name} file=${file} />`)}</div>
    ${!files.length && text && html`<pre class="verbatim">${text}</pre>`}`;
}
