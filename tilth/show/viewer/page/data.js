// Where the page gets its data: from the server it came from, or from the file it stands in.
// Both answer the same questions, so that nothing else knows the difference.

export const PAGE = 200;
export const AGAIN_MS = 2000;

async function ask(path, values = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const answer = await fetch(`data/${path}?${query}`, { credentials: "same-origin" });
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 400) || `HTTP ${answer.status}`);
  return answer.json();
}

// Hear how far the log goes. A browser comes back by itself after a cut, but not after a refusal.
function follow(session, after, onGrown, onCut) {
  let stream = null;
  let timer = null;
  let seen = after;
  const open = () => {
    stream = new EventSource(`data/stream?${new URLSearchParams({ session, after: seen })}`);
    stream.addEventListener("grown", (message) => {
      const said = JSON.parse(message.data);
      seen = Math.max(seen, said.last_seq);
      onGrown(said);
    });
    stream.onopen = () => onCut(false);
    stream.onerror = () => {
      onCut(true);
      if (stream.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    stream.close();
  };
}

function served() {
  return {
    live: true,
    sessions: () => ask("sessions"),
    overview: (session) => ask("overview", { session }),
    task: (session, task) => ask("task", { session, task }),
    rows: (session, filter, offset, limit = PAGE) => ask("events", { session, ...filter, offset, limit }),
    event: (session, seq) => ask("event", { session, seq }),
    conversation: (session, task, offset, limit) => ask("conversation", { session, task, offset, limit }),
    follow,
  };
}

// The lines of a block of the file; each is read when it is asked for.
function linesOf(id) {
  return document.getElementById(id).textContent.trimEnd().split("\n").filter(Boolean);
}

const REST = 4000;
const EXCERPT = 1500;

function stored(all) {
  const rowLines = linesOf("session-rows");
  const bodyLines = linesOf("session-bodies");
  const row = (index) => JSON.parse(rowLines[index]);
  const body = (seq) => JSON.parse(bodyLines[seq - 1]);
  const remembered = new Map();

  function holds(index, text, needle) {
    if (!`${rowLines[index]}\n${bodyLines[index]}`.toLowerCase().includes(needle)) return false;
    const { type, line, task } = row(index);
    const { text: whole, about } = body(index + 1);
    return [type, line, task, whole, about].join("\n").toLowerCase().includes(text);
  }

  async function find({ q, kind, task }) {
    const text = q.toLowerCase();
    const needle = JSON.stringify(text).slice(1, -1).replaceAll("<", "\\u003c");
    const found = [];
    for (let index = 0; index < rowLines.length; index += 1) {
      // A long search must not hold up what is typed meanwhile.
      if (index % REST === REST - 1) await new Promise((rest) => setTimeout(rest, 0));
      const known = kind || task ? row(index) : null;
      if (kind && known.kind !== kind) continue;
      if (task && known.task !== task) continue;
      if (!q || holds(index, text, needle)) found.push(index);
    }
    return found;
  }

  return {
    live: false,
    sessions: async () => [all.overview],
    overview: async () => all.overview,
    task: async (_, task) => {
      if (!all.tasks[task]) throw new Error(`there is no task ${task}`);
      return all.tasks[task];
    },
    rows: async (_, filter, offset, limit = PAGE) => {
      if (!filter.q && !filter.kind && !filter.task) {
        const rows = rowLines.slice(offset, offset + limit).map((line) => JSON.parse(line));
        return { total: rowLines.length, offset, rows };
      }
      const key = JSON.stringify(filter);
      if (!remembered.has(key)) {
        if (remembered.size > 8) remembered.clear();
        remembered.set(key, find(filter));
      }
      const found = await remembered.get(key);
      return { total: found.length, offset, rows: found.slice(offset, offset + limit).map(row) };
    },
    event: async (_, seq) => {
      if (!bodyLines[seq - 1]) throw new Error(`there is no event ${seq}`);
      return body(seq);
    },
    conversation: async (_, task, offset, limit) => {
      const entries = all.tasks[task].entries;
      const piece = entries.slice(offset, offset + limit);
      const cut = (entry) => {
        const text = body(entry.seq).text;
        return { ...entry, text: text.slice(0, EXCERPT), whole: text.length <= EXCERPT };
      };
      return { total: entries.length, entries: piece.map(cut) };
    },
    follow: () => () => {},
  };
}

export function openSource() {
  const kept = document.getElementById("session-data");
  return kept ? stored(JSON.parse(kept.textContent)) : served();
}
