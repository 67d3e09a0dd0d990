// One task: its criteria with their evidence, each round as case, gate and verdict, and its diff.

import { html, useEffect, useState } from "./vendor/preact-htm.js";
import { Diff } from "./diff.js";
import { Marked, firstHit } from "./marks.js";
import { MARKS, TAMPERED, clock, counted, money } from "./words.js";

const LONG = 1500;
const PIECE = 40;

// What is looked for is marked, and a text is not cut before it.
export function Verbatim({ text, q = "", isWhole = false }) {
  const [whole, setWhole] = useState(isWhole);
  const cut = !whole && text.length > LONG && firstHit(text, q) < LONG;
  return html`<pre class="verbatim"><${Marked} text=${cut ? `${text.slice(0, LONG)}\n…` : text} q=${q} /></pre>
    ${cut && html`<button class="link" onClick=${() => setWhole(true)}>show all ${text.length.toLocaleString("en")} characters</button>`}`;
}

// What an event holds, fetched when somebody wants to see it.
function Body({ source, session, seq }) {
  const [said, setSaid] = useState(null);
  const load = () => source.event(session, seq).then((event) => setSaid(event.text), () => {});
  if (said === null) return html`<button class="link" onClick=${load}>show it whole</button>`;
  return html`<${Verbatim} text=${said} isWhole />`;
}

function Criteria({ criteria, tests, objected }) {
  return html`<section class="card">
    <h2>Criteria and what is claimed for them</h2>
    ${objected && html`<p class="objected">! The last verdict objects: what stands here is the worker's claim, not proof.</p>`}
    <ol class="criteria">
      ${criteria.map(
        (item) => html`<li>
          <p class="verbatim">${item.text}</p>
          ${item.evidence.length > 0
            ? html`<p class="quiet">The worker claims:</p><ul class="quiet">${item.evidence.map((line) => html`<li class="verbatim">${line}</li>`)}</ul>`
            : html`<p class="quiet">No case speaks of it.</p>`}
        </li>`
      )}
    </ol>
    <p class="quiet">${tests.length ? `Acceptance tests: ${tests.join(", ")}` : "No acceptance test stands behind this task."}</p>
  </section>`;
}

function Step({ step, source, session, onSeq }) {
  const [open, setOpen] = useState(step.open);
  return html`<div class=${`step ${step.tone}`}>
    <button class="step-name" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      <span class="step-kind">${step.name}</span>
      <span class="step-title">${MARKS[step.tone]} ${step.title}</span>
    </button>
    ${open && html`<div class="step-body">
      ${step.lines.map((line) => line.includes("\n")
        ? html`<${Verbatim} text=${line} />`
        : html`<p class="verbatim">${line}</p>`)}
      <p class="tools">
        <button class="link" onClick=${() => onSeq(step.seq)}>event ${step.seq}</button>
        <${Body} source=${source} session=${session} seq=${step.seq} />
      </p>
    </div>`}
  </div>`;
}

function Round({ round, ...rest }) {
  return html`<section class="card">
    <h2>${round.name} <span class="quiet">${clock(round.at, true)}</span></h2>
    ${round.steps.map((step) => html`<${Step} key=${step.seq} step=${step} ...${rest} />`)}
  </section>`;
}

function Entry({ source, session, item, onSeq }) {
  const [text, setText] = useState(item.whole ? item.text : null);
  const load = () => source.event(session, item.seq).then((event) => setText(event.text), () => {});
  return html`<li class=${`entry ${item.who}`}>
    <button class="who" title="Open this event" onClick=${() => onSeq(item.seq)}>${item.who}</button>
    <div>
      <p class="entry-title">${item.title}</p>
      ${text === null
        ? html`<pre class="verbatim">${item.text}${"\n…"}</pre><button class="link" onClick=${load}>show it whole</button>`
        : text && html`<${Verbatim} text=${text} isWhole />`}
    </div>
  </li>`;
}

function Conversation({ source, session, task, total, onSeq }) {
  const [entries, setEntries] = useState([]);
  const [wanted, setWanted] = useState(PIECE);
  useEffect(() => {
    let current = true;
    const missing = Math.min(wanted, total) - entries.length;
    if (missing > 0) {
      source.conversation(session, task, entries.length, missing).then(
        (piece) => current && setEntries((old) => [...old, ...piece.entries.filter((each) => !old.length || each.seq > old[old.length - 1].seq)]),
        () => {}
      );
    }
    return () => { current = false; };
  }, [wanted, total, entries.length]);
  return html`<section class="card">
    <h2>Conversation <span class="quiet">${total === 1 ? "1 entry" : `${total.toLocaleString("en")} entries`}</span></h2>
    <ol class="conversation">
      ${entries.map((item) => html`<${Entry} key=${item.seq} source=${source} session=${session} item=${item} onSeq=${onSeq} />`)}
    </ol>
    ${entries.length < total && html`<button class="link" onClick=${() => setWanted(entries.length + PIECE)}>show ${Math.min(PIECE, total - entries.length)} more</button>`}
  </section>`;
}

function Siblings({ tasks, id, onTask }) {
  return html`<nav class="siblings" aria-label="Tasks">
    ${tasks.map((task) => html`<button key=${task.id} class=${task.id === id ? `${task.tone} on` : task.tone} title=${task.title}
      aria-current=${task.id === id ? "page" : undefined} onClick=${() => onTask(task.id)}>${MARKS[task.tone]} ${task.id}</button>`)}
  </nav>`;
}

export function Task({ source, session, id, tasks, stamp, onTask, onSeq }) {
  const [task, setTask] = useState(null);
  const [error, setError] = useState("");
  useEffect(() => {
    let current = true;
    source.task(session, id).then(
      (found) => current && (setTask(found), setError("")),
      (fault) => current && setError(String(fault.message || fault))
    );
    return () => { current = false; };
  }, [session, id, stamp]);
  if (error) return html`<main><p class="failed">${error}</p></main>`;
  if (!task || task.id !== id) return html`<main><p class="quiet">Reading ${id} …</p></main>`;
  const rest = { source, session, onSeq };
  return html`<main class="task" key=${id}>
    <${Siblings} tasks=${tasks} id=${id} onTask=${onTask} />
    <section class=${`headline ${task.tone}`}>
      <h1>${MARKS[task.tone]} ${task.id} ${task.title}</h1>
      <p>
        ${task.label}${task.score === null ? "" : ` · score ${task.score}`} · ${counted(task.iterations, "iteration")} · ${money(task.cost_usd)}
        ${task.commit ? html` · commit <code class="inline">${task.commit.slice(0, 12)}</code>` : ""}
        ${task.tampered.length > 0 && html` · <b class="warned">${TAMPERED} with the gate: ${task.tampered.join(", ")}</b>`}
      </p>
      <p class="verbatim">${task.description}</p>
    </section>
    <div class="columns even">
      <${Criteria} criteria=${task.criteria} tests=${task.seed_tests} objected=${task.objected} />
      <section class="card">
        <h2>What speaks against it <span class="quiet">doubt ${task.doubt}</span></h2>
        <ul>${task.reasons.map((line) => html`<li class="verbatim">${line}</li>`)}</ul>
        ${!task.reasons.length && html`<p class="quiet">Nothing that was recorded.</p>`}
      </section>
    </div>
    ${task.rounds.map((round) => html`<${Round} key=${`${round.name} ${round.at}`} round=${round} ...${rest} />`)}
    <section class="card"><h2>Change</h2><${Diff} text=${task.diff} about=${task.diff_about} /></section>
    <${Conversation} key=${id} task=${id} total=${task.talk} ...${rest} />
  </main>`;
}
