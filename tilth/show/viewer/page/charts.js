// The night as two pictures: who worked when, and what it had cost by then.

import { html } from "./vendor/preact-htm.js";
import { clock, money, span } from "./words.js";

const ACTORS = ["worker", "gate", "evaluator", "waiting"];
const WIDTH = 1000;
const LANE = 20;
const SHARES = [0, 0.25, 0.5, 0.75, 1];

function scale(start, end) {
  const length = Math.max(1, end - start);
  return (moment) => Math.min(WIDTH, Math.max(0, ((moment - start) / length) * WIDTH));
}

function Grid({ height }) {
  return html`<g class="tick">
    ${SHARES.map((share) => html`<line x1=${share * WIDTH} x2=${share * WIDTH} y1="0" y2=${height} />`)}
  </g>`;
}

function Times({ start, end }) {
  const withSeconds = end - start < 600000;
  return html`<div class="times">
    ${SHARES.map((share) => html`<span>${clock(start + (end - start) * share, withSeconds)}</span>`)}
  </div>`;
}

// All spans of one actor in a lane are one path: however long the night, the page stays small.
function Lane({ row, at, x }) {
  return ACTORS.map((actor) => {
    const spans = row.spans.filter((each) => each[0] === actor);
    if (!spans.length) return null;
    const top = at * LANE + 4;
    const drawn = spans.map(([, from, to]) => {
      const wide = Math.max(1.5, x(to) - x(from));
      return `M${x(from).toFixed(1)} ${top}h${wide.toFixed(1)}v${LANE - 8}h${(-wide).toFixed(1)}z`;
    });
    const whole = spans.reduce((sum, [, from, to]) => sum + to - from, 0);
    return html`<path class=${actor} d=${drawn.join("")}><title>${`${row.task} ${actor}, ${span(whole)}`}</title></path>`;
  });
}

// One row of times stands below the last picture of the two.
export function Timeline({ timeline, withTimes, onTask }) {
  const { start, end, rows } = timeline;
  if (!rows.length) return html`<p class="quiet">Nothing has happened yet.</p>`;
  const x = scale(start, end);
  const height = rows.length * LANE;
  return html`<figure class="chart" aria-label="Timeline">
    <figcaption>
      <b>Timeline</b> ${span(end - start)}
      ${ACTORS.map((actor) => html`<span class=${`key ${actor}`}>${actor}</span>`)}
    </figcaption>
    <div class="lanes" tabindex=${rows.length > 12 ? 0 : undefined}>
      <div class="names">
        ${rows.map((row) => html`<button key=${row.task} onClick=${() => onTask(row.task)}>${row.task}</button>`)}
      </div>
      <svg viewBox=${`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" height=${height} role="img"
        aria-label="Who worked when, task by task">
        <${Grid} height=${height} />
        ${rows.map((row, at) => html`<${Lane} key=${row.task} row=${row} at=${at} x=${x} />`)}
      </svg>
    </div>
    ${withTimes && html`<${Times} start=${start} end=${end} />`}
  </figure>`;
}

export function Spend({ spend, start, end }) {
  const points = spend.points;
  if (points.length < 2) return null;
  const x = scale(start, end);
  const most = Math.max(...points.map((point) => point[1])) || 1;
  const y = (value) => 96 - (value / most) * 88;
  // What is spent is spent at once: it goes up in steps.
  const line = points.map(([at, value], index) => `${index ? `H${x(at).toFixed(1)}` : `M${x(at).toFixed(1)} 96`}V${y(value).toFixed(1)}`);
  const words = spend.in_dollars ? money : (value) => `${Math.round(value).toLocaleString("en")} tokens`;
  const limit = spend.limit && spend.in_dollars ? ` of at most ${words(spend.limit)}` : "";
  return html`<figure class="chart" aria-label="Spend">
    <figcaption><b>Spend</b> ${words(points[points.length - 1][1])}${limit}</figcaption>
    <div class="lanes">
      <div class="names"><span>${words(most)}</span></div>
      <svg class="spend" viewBox=${`0 0 ${WIDTH} 100`} preserveAspectRatio="none" role="img" aria-label="Spend over time">
        <${Grid} height="100" />
        <path d=${line.join("")} />
      </svg>
    </div>
    <${Times} start=${start} end=${end} />
  </figure>`;
}
