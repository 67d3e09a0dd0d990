// The event list: however long the log, only the rows that can be seen are drawn.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact-htm.js";
import { AGAIN_MS, PAGE } from "./data.js";
import { Marked } from "./marks.js";
import { Verbatim } from "./task.js";
import { clock, counted, day } from "./words.js";

// On a narrow screen a row has two lines, one of them for its number, time, task and type.
const NARROW = "(max-width: 720px)";
const HEIGHTS = { wide: 24, narrow: 44 };
const MARGIN = 10;
const MARKS_A_ROW = 5;
// Browsers cannot draw taller elements; beyond this the scroll bar is stretched over the rows.
const TALLEST = 8_000_000;

function useHeight() {
  const [height, setHeight] = useState(HEIGHTS[matchMedia(NARROW).matches ? "narrow" : "wide"]);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const turned = () => setHeight(HEIGHTS[query.matches ? "narrow" : "wide"]);
    query.addEventListener("change", turned);
    return () => query.removeEventListener("change", turned);
  }, []);
  return height;
}

// Pages of rows, fetched when they are first looked at.
function usePages(source, session, filter, grown) {
  const [, redraw] = useState(0);
  const kept = useRef(null);
  const key = JSON.stringify([session, filter]);
  if (!kept.current || kept.current.key !== key) {
    kept.current = { key, pages: new Map(), asked: new Map(), total: null, fault: "" };
  }
  const book = kept.current;
  const fetchPage = (page) => {
    if (book.asked.get(page) === grown || (book.pages.get(page) || []).length === PAGE) return;
    book.asked.set(page, grown);
    source.rows(session, filter, page * PAGE).then(
      (answer) => {
        book.total = Math.max(book.total || 0, answer.total);
        book.fault = "";
        book.pages.set(page, answer.rows);
        redraw((n) => n + 1);
      },
      (fault) => {
        book.fault = String(fault.message || fault);
        redraw((n) => n + 1);
        setTimeout(() => {
          book.asked.delete(page);
          if (kept.current === book) fetchPage(page);
        }, AGAIN_MS);
      }
    );
  };
  useEffect(() => {
    fetchPage(book.total === null ? 0 : Math.floor(Math.max(0, book.total - 1) / PAGE));
    if (book.total !== null && book.total % PAGE === 0) fetchPage(Math.floor(book.total / PAGE));
  }, [key, grown]);
  return {
    total: book.total,
    fault: book.fault,
    row: (index) => {
      const page = Math.floor(index / PAGE);
      fetchPage(page);
      return (book.pages.get(page) || [])[index % PAGE];
    },
  };
}

function Row({ row, q, index, top, height, chosen, onChoose }) {
  const style = { transform: `translateY(${top}px)`, height: `${height}px` };
  const marked = (text) => html`<${Marked} text=${text} q=${q} most=${MARKS_A_ROW} />`;
  if (!row) return html`<div class="row empty" style=${style}>…</div>`;
  return html`<div
    class=${`row ${row.kind} ${chosen ? "chosen" : ""} ${row.loud ? "loud" : ""}`}
    style=${style}
    role="option"
    aria-selected=${chosen}
    id=${`event-${row.seq}`}
    onClick=${() => onChoose(row.seq, index)}
  >
    <span class="seq">${row.seq}</span>
    <span class="at">${clock(row.at, true)}</span>
    <span class="in">${marked(row.task || "")}</span>
    <span class="type">${marked(row.type)}</span>
    <span class="line">${marked(row.line)}</span>
  </div>`;
}

export function Events({ source, session, filter, seq, grown, onChoose, position }) {
  const book = usePages(source, session, filter, grown);
  const box = useRef(null);
  const height = useHeight();
  const [view, setView] = useState({ top: 0, height: 600 });
  const total = book.total || 0;
  const tall = Math.min(total * height, TALLEST);
  const stretch = total * height > TALLEST ? (total * height - view.height) / (TALLEST - view.height) : 1;
  const offset = view.top * stretch;
  const first = Math.max(0, Math.floor(offset / height) - MARGIN);
  const last = Math.min(total, Math.ceil((offset + view.height) / height) + MARGIN);
  useLayoutEffect(() => {
    const measure = () => box.current && setView((old) => ({ ...old, height: box.current.clientHeight }));
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, []);
  useLayoutEffect(() => {
    if (position === null || !box.current || !total) return;
    const wanted = (position * height) / stretch;
    const seen = box.current.scrollTop;
    if (wanted < seen || wanted > seen + view.height - 2 * height) {
      box.current.scrollTop = Math.max(0, wanted - view.height / 2);
    }
  }, [position, total > 0, seq]);
  const rows = [];
  for (let index = first; index < last; index += 1) {
    const row = book.row(index);
    rows.push(html`<${Row} key=${index} row=${row} q=${filter.q} index=${index}
      height=${height} top=${index * height - offset + view.top} chosen=${row && row.seq === seq} onChoose=${onChoose} />`);
  }
  return html`<div class="events">
    <p class="quiet" role="status">${book.fault || (book.total === null ? "Reading …" : counted(total, "event"))}</p>
    <div class="scroll" ref=${box} tabindex="0" role="listbox" aria-label="Events"
      aria-activedescendant=${seq ? `event-${seq}` : undefined}
      onScroll=${(event) => setView((old) => ({ ...old, top: event.target.scrollTop }))}>
      <div class="rows" style=${{ height: `${tall}px` }}>${rows}</div>
    </div>
  </div>`;
}

export function Detail({ source, session, seq, q, onTask, onClose }) {
  const box = useRef(null);
  const [event, setEvent] = useState(null);
  const [error, setError] = useState("");
  useEffect(() => {
    let current = true;
    setError("");
    source.event(session, seq).then(
      (found) => current && setEvent(found),
      (fault) => current && setError(String(fault.message || fault))
    );
    return () => { current = false; };
  }, [session, seq]);
  useEffect(() => {
    const hit = box.current && box.current.querySelector("mark");
    if (hit) hit.scrollIntoView({ block: "nearest" });
  }, [event, q]);
  if (error) return html`<aside class="detail"><p class="failed">${error}</p></aside>`;
  if (!event || event.seq !== seq) return html`<aside class="detail"><p class="quiet">Reading event ${seq} …</p></aside>`;
  return html`<aside class="detail" ref=${box} aria-label=${`Event ${seq}`}>
    <header>
      <h2><${Marked} text=${event.type} q=${q} /> <a href=${`#seq=${seq}`}>#${seq}</a></h2>
      <button class="link" onClick=${onClose}>close</button>
    </header>
    <p class="quiet">
      ${day(event.at)} ${clock(event.at, true)}
      ${event.task && html` · <button class="link" onClick=${() => onTask(event.task)}>${event.task}</button>`}
      ${event.iter ? ` · iteration ${event.iter}` : ""}
    </p>
    ${event.lines.map((line) => html`<p class="verbatim"><${Marked} text=${line} q=${q} /></p>`)}
    <${Verbatim} text=${event.text} q=${q} />
    ${event.about && html`<${Verbatim} text=${event.about} q=${q} />`}
  </aside>`;
}
