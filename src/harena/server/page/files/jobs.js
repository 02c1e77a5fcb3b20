// All benchmark jobs, with live progress; two of them can be chosen and compared.
import { get, watch } from "./api.js";
import { el, fill, said } from "./dom.js";
import { rows } from "./rows.js";
import { ago, number, seconds, share } from "./words.js";

/** A bar whose parts are as long as their counts. */
export function parts(progress) {
  const counts = ["passed", "failed", "infra", "invalid", "running", "cancelled"].map((name) => [name, progress[name] ?? 0]);
  const said = counts.filter(([, count]) => count).map(([name, count]) => `${count} ${name}`).join(", ");
  return el("div.parts", { role: "img", "aria-label": said || "nothing has run", title: said }, counts.map(([name, count]) => {
    const piece = el("i");
    piece.style.setProperty("width", `${(100 * count) / Math.max(1, progress.total)}%`);
    piece.style.setProperty("background", `var(--${name})`);
    return piece;
  }));
}

export function stateMark(state) {
  return el("span.mark", { class: `mark ${/^[a-z_]+$/.test(state) ? state : ""}` }, state.replace("_", " "));
}

/** Ids of the jobs that are chosen, in the order of choosing. */
const picked = new Set();

export async function jobs({ main, signal, connected }) {
  let found = [];
  let more = null;
  const compareButton = el("button", { type: "button", onclick: () => {
    const [one, other] = [...picked].slice(-2);
    location.hash = `#/compare/${encodeURIComponent(one)}/${encodeURIComponent(other)}`;
  } }, "Compare two");
  const search = el("input", { type: "search", placeholder: "name or id", "aria-label": "Search jobs", oninput: () => keep() });
  const older = el("button", { type: "button", onclick: loadOlder }, "older jobs");
  const table = rows([
    { name: "", width: "1.2rem", show: (job) => el("input", { type: "checkbox", checked: picked.has(job.id),
      "aria-label": `choose ${job.id}`, onchange: (event) => pick(job.id, event.target.checked) }) },
    { name: "job", width: "minmax(0, 2.4fr)", value: (job) => job.name, show: (job) => el("a", { href: `#/jobs/${job.id}` }, said(job.name)) },
    { name: "state", width: "6.5rem", value: (job) => job.state, show: (job) => stateMark(job.state) },
    { name: "progress", width: "minmax(0, 1.6fr)", value: (job) => job.progress.done / Math.max(1, job.progress.total), show: (job) => parts(job.progress) },
    { name: "passed", width: "4.6rem", number: true, value: (job) => rate(job), show: (job) => share(rate(job)) },
    { name: "runs", width: "8.6rem", wide: true, number: true, value: (job) => job.progress.total,
      show: (job) => `${number(job.progress.done)} / ${number(job.progress.total)}` },
    { name: "took", width: "5.5rem", wide: true, number: true, value: (job) => job.duration_seconds, show: (job) => seconds(job.duration_seconds) },
    { name: "created", width: "6rem", wide: true, number: true, value: (job) => job.created_at, show: (job) => ago(job.created_at) },
  ], { label: "Benchmark jobs", key: (job) => job.id, none: "no benchmark job yet: `harena benchmark run --scenarios problems.jsonl` makes one",
    open: (job) => { location.hash = `#/jobs/${job.id}`; } });
  fill(main, el("h1", "Benchmark jobs"), el("div.bar", search, compareButton), table.element, el("div.bar", older));
  older.hidden = true;

  function pick(id, chosen) {
    if (chosen) picked.add(id); else picked.delete(id);
    compareButton.disabled = picked.size < 2;
  }
  compareButton.disabled = picked.size < 2;

  function keep() {
    const words = search.value.toLowerCase();
    table.keep(words ? (job) => job.name.toLowerCase().includes(words) || job.id.includes(words) : null);
  }

  async function loadOlder() {
    const page = await get("v1/benchmark_jobs", { limit: 500, cursor: more }, signal);
    more = page.next_cursor;
    older.hidden = more === null;
    found = [...found, ...page.benchmark_jobs];
    table.set(found);
  }

  let drawn = "";
  watch(async () => {
    const page = await get("v1/benchmark_jobs", { limit: 100 }, signal);
    const newest = page.benchmark_jobs;
    const ids = new Set(newest.map((job) => job.id));
    const said = JSON.stringify(newest);
    if (drawn === said) return;
    if (!drawn) { more = page.next_cursor; older.hidden = more === null; }
    drawn = said;
    found = [...newest, ...found.filter((job) => !ids.has(job.id) && newest.length === 100)];
    table.set(found);
  }, { signal, failed: connected });
}

function rate(job) {
  const scored = job.progress.passed + job.progress.failed;
  return scored ? job.progress.passed / scored : null;
}
