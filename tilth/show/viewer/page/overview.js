// The first page: how it stands, what to look at first, the tasks, the night and its cost.

import { html } from "./vendor/preact-htm.js";
import { Spend, Timeline } from "./charts.js";
import { MARKS, TAMPERED, clock, count, counted, day, money, span } from "./words.js";

// What does not fit is counted in the last row: the gravest reasons come first.
const MOST_ROWS = 3;

function Reasons({ reasons }) {
  const shown = reasons.length > MOST_ROWS ? reasons.slice(0, MOST_ROWS - 1) : reasons;
  return html`<ul>
    ${shown.map((reason) => html`<li class="verbatim">${reason}</li>`)}
    ${shown.length < reasons.length && html`<li class="quiet">and ${reasons.length - shown.length} more</li>`}
  </ul>`;
}

function Headline({ overview }) {
  const ended = overview.ended || overview.timeline.end || overview.started;
  const landed = overview.landed;
  const brought = landed.commits
    ? ` · ${counted(landed.commits, "commit")}, +${landed.added} −${landed.deleted} in ${counted(landed.files, "file")}`
    : "";
  const below = overview.below_bar;
  return html`<section class=${`headline ${overview.tone}`}>
    <h1>${MARKS[overview.tone]} ${overview.headline}</h1>
    <p>
      ${overview.feature ? html`<b>${overview.feature}</b> · ` : ""}
      ${day(overview.started)} ${clock(overview.started)}–${clock(ended)} (${span(ended - overview.started)}) ·
      ${" "}${money(overview.cost_usd)}${overview.cost_usd === null ? " cost" : ""} · ${count(overview.tokens)} tokens${brought}
    </p>
    ${below.length > 0 && html`<p>
      ${below.join(", ")}: accepted below the bar by no one; the setting TILTH_ON_EXHAUSTED=accept let ${below.length === 1 ? "it" : "them"} pass
    </p>`}
    <p class="quiet">
      worker ${overview.worker_model || "unknown"} · evaluator ${overview.evaluator_model || "none"} ·
      ${" "}${overview.branch}${overview.sandbox === "off" ? " · SANDBOX OFF" : ""}
    </p>
  </section>`;
}

function Questions({ questions, session }) {
  if (!questions.length) return null;
  return html`<section class="card asked">
    <h2>${questions.length === 1 ? "A question waits" : `${questions.length} questions wait`} for you <span class="quiet">What should be done? Put your answer between the quotes; then <code class="inline">tilth resume ${session}</code> goes on.</span></h2>
    ${questions.map(
      (item) => html`<div class="question" key=${item.request}>
        <p class="verbatim"><b>${item.request}${item.task_id ? `, ${item.task_id} is blocked` : ""}:</b> ${item.text}</p>
        <code>${item.command}</code>
      </div>`
    )}
  </section>`;
}

function First({ overview, onTask }) {
  const doubtful = overview.tasks.filter((task) => task.doubt > 0).sort((a, b) => b.doubt - a.doubt);
  const clear = overview.tasks.filter((task) => task.tone === "good" && !task.doubt).map((task) => task.id);
  return html`<section class="card look">
    <h2>What to look at first</h2>
    <ol class="first">
      ${doubtful.slice(0, 6).map(
        (task) => html`<li key=${task.id}>
          <button class="link" onClick=${() => onTask(task.id)}>${task.id} ${task.title}</button>
          <span class="quiet"> doubt ${task.doubt}</span>
          <${Reasons} reasons=${task.reasons} />
        </li>`
      )}
    </ol>
    ${clear.length > 0 && html`<p class="quiet">Nothing speaks against ${clear.length > 8 ? `${clear.length} tasks` : clear.join(", ")}.</p>`}
    ${!clear.length && !doubtful.length && html`<p class="quiet">No task has ended yet.</p>`}
  </section>`;
}

function Verdicts({ verdicts }) {
  if (!verdicts.length) return html`<span class="quiet">none</span>`;
  return html`<span class="verdicts">
    ${verdicts.map(
      (verdict) => html`<span class=${verdict.verdict === "accept" ? "chip good" : "chip failed"}
        title=${`${verdict.id} ${verdict.verdict} ${verdict.category || ""} by ${verdict.source} ${verdict.proof || ""}`}
      >${verdict.verdict === "accept" ? "✓" : "✗"}<span class="why"> ${verdict.category || "accept"}${verdict.proof ? ` ${verdict.proof}` : ""}</span></span>`
    )}
  </span>`;
}

function Tasks({ tasks, onTask }) {
  return html`<section class="card list">
    <h2>Tasks</h2>
    <table class="tasks">
      <thead>
        <tr><th>Task</th><th>State</th><th>Verdicts</th><th class="number">Score</th><th class="number">Iterations</th><th class="number">Cost</th><th class="number">Doubt</th></tr>
      </thead>
      <tbody>
        ${tasks.map(
          (task) => html`<tr key=${task.id} class=${task.tone}>
            <td><button class="link" onClick=${() => onTask(task.id)}>${task.id} ${task.title}</button></td>
            <td class=${`state ${task.tone}`}>${MARKS[task.tone]} ${task.label}${task.tampered.length > 0 && html`<span class="warned">${TAMPERED}</span>`}</td>
            <td><${Verdicts} verdicts=${task.verdicts} /></td>
            <td class="number">${task.score ?? "–"}</td>
            <td class="number">${task.iterations || "–"}</td>
            <td class="number">${task.iterations ? money(task.cost_usd) : "–"}</td>
            <td class="number">${task.doubt || "–"}</td>
          </tr>`
        )}
      </tbody>
    </table>
  </section>`;
}

function Next({ commands }) {
  if (!commands.length) return null;
  return html`<section class="card next">
    <h2>Next</h2>
    <div>${commands.map((item) => html`<code>${item.command}</code><p class="quiet">${item.does}</p>`)}</div>
  </section>`;
}

export function Overview({ overview, onTask }) {
  const { start, end } = overview.timeline;
  return html`<main class="overview">
    <${Headline} overview=${overview} />
    <${Questions} questions=${overview.questions} session=${overview.id} />
    <div class="columns">
      <div class="column">
        <${Tasks} tasks=${overview.tasks} onTask=${onTask} />
        <section class="card charts">
          <${Timeline} timeline=${overview.timeline} withTimes=${overview.spend.points.length < 2} onTask=${onTask} />
          <${Spend} spend=${overview.spend} start=${start} end=${end} />
        </section>
      </div>
      <div class="column">
        <${First} overview=${overview} onTask=${onTask} />
      </div>
    </div>
    <${Next} commands=${overview.next} />
  </main>`;
}
