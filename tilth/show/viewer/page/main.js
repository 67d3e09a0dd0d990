// The page as a whole: which session and view is shown, the keys, and what comes in live.

import { html, render, useCallback, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact-htm.js";
import { openSource } from "./data.js";
import { Detail, Events } from "./events.js";
import { Overview } from "./overview.js";
import { Task } from "./task.js";
import { WORDS } from "./glossary.js";

const KINDS = ["worker", "tool", "gate", "evaluator", "person", "harness"];
const NOTHING = { q: "", kind: "", task: "" };
const TYPING_MS = 150;
const KEYS = [
  ["o", "overview"],
  ["t", "the first task, then the next one"],
  ["e", "all events"],
  ["/", "search all text"],
  ["j, ↓", "next event"],
  ["k, ↑", "previous event"],
  ["Home, End", "first, last event"],
  ["d", "dark or light"],
  ["?", "these keys and words"],
  ["Esc", "close, leave"],
];

function readPlace() {
  const values = new URLSearchParams(location.hash.slice(1));
  const seq = Number(values.get("seq"));
  const hasSeq = Number.isInteger(seq) && seq > 0;
  return {
    session: values.get("session") || "",
    task: values.get("task") || "",
    seq: hasSeq ? seq : null,
    view: hasSeq || values.has("events") ? "events" : values.get("task") ? "task" : "overview",
  };
}

function goTo(changes) {
  const values = new URLSearchParams();
  const session = changes.session ?? readPlace().session;
  if (session) values.set("session", session);
  for (const name of ["task", "seq"]) if (changes[name]) values.set(name, changes[name]);
  if (changes.events) values.set("events", "");
  location.hash = values.toString();
}

function usePlace() {
  const [place, setPlace] = useState(readPlace());
  useEffect(() => {
    const moved = () => setPlace(readPlace());
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  // A new view begins at its top, as a new page would.
  useEffect(() => window.scrollTo(0, 0), [place.view, place.task]);
  return place;
}

const BLANK = { overview: null, grown: 0, cut: false, fault: "" };

// The overview, kept up to date: what is new asks for it again, at most once a second.
function useSession(source, session) {
  const [state, setState] = useState(BLANK);
  const due = useRef(null);
  const load = useCallback(async () => {
    try {
      const overview = await source.overview(session);
      setState((old) => ({ ...old, overview, fault: "", grown: Math.max(old.grown, overview.last_seq) }));
      return overview;
    } catch (fault) {
      setState((old) => ({ ...old, fault: String(fault.message || fault) }));
      return null;
    }
  }, [session]);
  useEffect(() => {
    let stop = () => {};
    let left = false;
    setState(BLANK);
    load().then((overview) => {
      if (left || !overview) return;
      let status = overview.status;
      const heard = (said) => {
        setState((old) => ({ ...old, grown: Math.max(old.grown, said.last_seq) }));
        if (said.last_seq > overview.last_seq || said.status !== status) {
          status = said.status;
          due.current = due.current || setTimeout(() => { due.current = null; load(); }, 1000);
        }
      };
      stop = source.follow(overview.id, overview.last_seq, heard, (cut) => setState((old) => ({ ...old, cut })));
    });
    return () => { left = true; stop(); clearTimeout(due.current); due.current = null; };
  }, [session]);
  return state;
}

function useTheme() {
  const [chosen, setChosen] = useState(() => {
    try { return localStorage.getItem("tilth-theme"); } catch { return null; }
  });
  useEffect(() => {
    if (chosen) document.documentElement.dataset.theme = chosen;
    try { if (chosen) localStorage.setItem("tilth-theme", chosen); } catch { /* no storage here */ }
  }, [chosen]);
  const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return () => setChosen(isDark ? "light" : "dark");
}

function Sessions({ source, current }) {
  const [sessions, setSessions] = useState([]);
  useEffect(() => { source.sessions().then(setSessions, () => {}); }, [current]);
  if (sessions.length < 2) return html`<span class="session">${current}</span>`;
  return html`<select aria-label="Session" value=${current} onChange=${(event) => goTo({ session: event.target.value })}>
    ${sessions.map((item) => html`<option value=${item.id}>${item.id} ${item.status}</option>`)}
  </select>`;
}

function Keys({ onClose }) {
  const close = useRef(null);
  useEffect(() => close.current.focus({ preventScroll: true }), []);
  return html`<div class="veil" onClick=${onClose}>
    <div class="card keys" role="dialog" aria-modal="true" aria-label="Keys and words">
      <h2>Keys</h2>
      <dl>${KEYS.map(([key, what]) => html`<dt>${key}</dt><dd>${what}</dd>`)}</dl>
      <h2>Words</h2>
      <dl>${WORDS.map(([word, means]) => html`<dt>${word}</dt><dd>${means}</dd>`)}</dl>
      <button class="link" ref=${close} onClick=${onClose}>close</button>
    </div>
  </div>`;
}

function Choice({ name, value, values, none, onChange }) {
  return html`<select aria-label=${name} value=${value} onChange=${(event) => onChange(event.target.value)}>
    <option value="">${none}</option>
    ${values.map(([key, said]) => html`<option value=${key}>${said}</option>`)}
  </select>`;
}

// What is typed is looked for when the typing rests.
function Filters({ filter, tasks, onFilter, onEnter, search }) {
  const due = useRef(null);
  const typed = (event) => {
    const q = event.target.value;
    clearTimeout(due.current);
    due.current = setTimeout(() => onFilter((old) => ({ ...old, q })), TYPING_MS);
  };
  const pressed = (event) => {
    if (event.key === "Enter" || event.key === "ArrowDown") { event.preventDefault(); onEnter(); }
  };
  const set = (name) => (value) => onFilter((old) => ({ ...old, [name]: value }));
  return html`<div class="filters">
    <input type="search" role="searchbox" aria-label="Search all text" placeholder="Search all text ( / )"
      ref=${search} value=${filter.q} onInput=${typed} onKeyDown=${pressed} />
    <${Choice} name="Kind" value=${filter.kind} none="all kinds" values=${KINDS.map((kind) => [kind, kind])} onChange=${set("kind")} />
    <${Choice} name="Task" value=${filter.task} none="all tasks" values=${tasks.map((task) => [task.id, `${task.id} ${task.title}`])} onChange=${set("task")} />
  </div>`;
}

function Bar({ source, overview, cut, view, onTasks, onFind, onTheme, onHelp }) {
  const on = (name) => (view === name ? "on" : "");
  const now = cut ? "connection lost, trying again" : overview.running ? "● live" : "at rest";
  return html`<header class="bar">
    <b>Tilth</b>
    <${Sessions} source=${source} current=${overview.id} />
    <nav>
      <button class=${on("overview")} onClick=${() => goTo({})}>Overview</button>
      ${overview.tasks.length > 0 && html`<button class=${on("task")} onClick=${onTasks}>Tasks</button>`}
      <button class=${on("events")} onClick=${() => goTo({ events: true })}>Events</button>
    </nav>
    <span class="grow"></span>
    <span class=${cut ? "live failed" : overview.running ? "live on-air" : "live"} role="status">${source.live ? now : "exported"}</span>
    <button title="Search ( / )" onClick=${onFind}>Search</button>
    <button title="Dark or light (d)" aria-label="Dark or light" onClick=${onTheme}>◐</button>
    <button title="Keys (?)" aria-label="Keys" onClick=${onHelp}>?</button>
  </header>`;
}

// Before the view is painted: a key pressed at once belongs to it already.
function useKeys(acts) {
  useLayoutEffect(() => {
    const pressed = (event) => {
      if (event.key === "Escape") return acts.Escape();
      if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return undefined;
      if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
      return undefined;
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  });
}

// Which event is chosen, and where it stands among those that are listed.
function useChosen(source, overview, place, filter, grown) {
  const [position, setPosition] = useState(null);
  const isFiltered = Boolean(filter.q || filter.kind || filter.task);
  const at = position !== null ? position : place.seq && !isFiltered ? place.seq - 1 : null;
  const choose = (seq, index) => { setPosition(index ?? null); goTo({ seq }); };
  // Without a connection nothing moves; the bar says why, and the next key tries again.
  const row = (index) => source.rows(overview.id, filter, index, 1).catch(() => ({ total: 0, rows: [] }));
  const pick = async (wanted) => {
    const answer = await row(Math.max(0, wanted));
    if (answer.rows[0]) choose(answer.rows[0].seq, Math.max(0, wanted));
  };
  const last = async () => {
    const total = isFiltered ? (await row(0)).total : grown;
    if (total) await pick(total - 1);
  };
  const step = (by) => pick(at === null ? 0 : at + by);
  return { at, choose, pick, last, step, forget: () => setPosition(null) };
}

function Page({ source }) {
  const place = usePlace();
  const { overview, grown, cut, fault } = useSession(source, place.session);
  const [filter, setFilter] = useState(NOTHING);
  const [help, setHelp] = useState(false);
  const search = useRef(null);
  const toggle = useTheme();
  const chosen = useChosen(source, overview, place, filter, grown);

  const nextTask = () => {
    const ids = overview.tasks.map((task) => task.id);
    if (ids.length) goTo({ task: ids[(ids.indexOf(place.task) + 1) % ids.length] });
  };
  const find = () => {
    if (place.view !== "events") goTo({ events: true });
    setTimeout(() => search.current && search.current.focus(), 0);
  };
  const leave = () => {
    if (help) setHelp(false);
    else if (search.current && document.activeElement === search.current) search.current.blur();
    else if (place.seq) goTo({ events: true });
  };
  const moves = {
    j: () => chosen.step(1), ArrowDown: () => chosen.step(1),
    k: () => chosen.step(-1), ArrowUp: () => chosen.step(-1),
    Home: () => chosen.pick(0), End: chosen.last,
  };
  useKeys(overview ? {
    Escape: leave, "?": () => setHelp(!help), "/": find, d: toggle, t: nextTask,
    o: () => goTo({}), e: () => goTo({ events: true }),
    ...(place.view === "events" ? moves : {}),
  } : { Escape: leave });

  if (!overview) return html`<p class=${fault ? "failed start" : "quiet start"}>${fault || "Reading the session …"}</p>`;
  const openTask = (task) => task && goTo({ task });
  const openSeq = (seq) => { setFilter(NOTHING); chosen.forget(); goTo({ seq }); };
  const refine = (change) => { chosen.forget(); setFilter(change); };
  const shared = { source, session: overview.id };
  return html`
    <${Bar} source=${source} overview=${overview} cut=${cut} view=${place.view} onTasks=${nextTask}
      onFind=${find} onTheme=${toggle} onHelp=${() => setHelp(true)} />
    ${fault && html`<p class="failed start">${fault}</p>`}
    ${place.view === "overview" && html`<${Overview} overview=${overview} onTask=${openTask} />`}
    ${place.view === "task" && html`<${Task} ...${shared} id=${place.task} tasks=${overview.tasks} stamp=${overview.last_seq}
      onTask=${openTask} onSeq=${openSeq} />`}
    ${place.view === "events" && html`<main class=${place.seq ? "log split" : "log"}>
      <${Filters} filter=${filter} tasks=${overview.tasks} search=${search} onFilter=${refine} onEnter=${() => chosen.pick(0)} />
      <${Events} ...${shared} filter=${filter} seq=${place.seq} grown=${grown} position=${chosen.at} onChoose=${chosen.choose} />
      ${place.seq && html`<${Detail} ...${shared} seq=${place.seq} q=${filter.q} onTask=${openTask} onClose=${() => goTo({ events: true })} />`}
    </main>`}
    ${help && html`<${Keys} onClose=${() => setHelp(false)} />`}`;
}

// The token has done its work: it need not stay in the address, nor in what is copied from there.
if (location.search.includes("token=")) history.replaceState(null, "", location.pathname + location.hash);
render(html`<${Page} source=${openSource()} />`, document.getElementById("page"));
