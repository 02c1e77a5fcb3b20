// One benchmark job: what it comes to, a heat map of all its runs, a table of them, and one run in depth.
import { get, part, post, watch } from "./api.js";
import { el, fill, framed, said } from "./dom.js";
import { heat, stateOf } from "./heat.js";
import { parts, stateMark } from "./jobs.js";
import { rows } from "./rows.js";
import { runDetails } from "./run.js";
import { liveRuns, MOST_RUNS } from "./runs.js";
import { bytes, number, seconds, share } from "./words.js";

/** The name of the jobs of calibrations and audits, whose report is another view. */
const CALIBRATION = "calibration";
/** Most runs of a job whose summary is asked for while it runs: a server adds it up anew each time. */
const MOST_SUMMED = 2000;

export async function job({ main, parts: path, signal, connected }) {
  let of = await get(`v1/benchmark_jobs/${part(path[0])}`, {}, signal);
  let summary = null;
  let wanted = path[1] === "runs" ? Number(path[2]) : null;
  const here = `#/jobs/${encodeURIComponent(path[0])}`;
  const runs = [];
  const open = (run) => { location.hash = `${here}/runs/${run.run}`; };
  const map = heat({ open, label: "Heat map of the runs: a cell for each attempt of a scenario" });
  const tiles = el("div.tiles");
  const top = el("div");
  const panel = el("section.sheet.panel", { "aria-label": "One run", tabindex: "-1", hidden: true });
  const search = el("input", { type: "search", placeholder: "scenario, reason or detail", "aria-label": "Search runs", oninput: () => keep() });
  const verdict = el("select", { "aria-label": "Verdict", onchange: () => keep() }, ["all verdicts", "passed", "partial", "failed", "suspect", "infra", "invalid", "running", "cancelled"]
    .map((name) => el("option", { value: name === "all verdicts" ? "" : name }, name)));
  const count = el("span.note");
  const table = rows([
    { name: "run", width: "3.6rem", number: true, wide: true, value: (run) => run.run, show: (run) => number(run.run) },
    { name: "scenario", width: "minmax(0, 2fr)", value: (run) => run.scenario_id, show: (run) => said(run.scenario_id, 80) },
    { name: "try", width: "2.6rem", number: true, value: (run) => run.attempt },
    { name: "verdict", width: "6rem", value: (run) => stateOf(run), show: (run) => el("span.mark", { class: `mark ${stateOf(run)}` }, stateOf(run)) },
    { name: "score", width: "3.6rem", number: true, value: (run) => run.score, show: (run) => number(run.score) },
    { name: "reason", width: "8rem", wide: true, value: (run) => run.reason ?? "" },
    { name: "detail", width: "minmax(0, 2fr)", wide: true, value: (run) => run.detail ?? "", show: (run) => said(run.detail ?? "", 120) },
    { name: "took", width: "4.6rem", number: true, wide: true, value: (run) => run.duration_seconds, show: (run) => seconds(run.duration_seconds) },
    { name: "memory", width: "5.4rem", number: true, wide: true, value: (run) => run.peak_memory_bytes, show: (run) => bytes(run.peak_memory_bytes) },
  ], { label: "Runs", key: (run) => run.run, open, chosen: (run) => run.run === wanted, none: "no run has ended or begun yet" });
  const split = el("div.split", el("div", tiles, el("h2", "Scenario × attempt"), el("div.sheet", map.element),
    el("h2", "Runs"), el("div.bar", search, verdict, count), table.element), panel);
  fill(main, top, split);
  drawTop();

  const draw = framed(() => {
    map.set(runs, Math.min(of.progress.total, MOST_RUNS), of.config.attempts, of.ended_at ? "not loaded" : "queued");
    table.set(runs.filter(Boolean));
    counted();
    if (wanted !== null && panel.hidden) show();
  });
  draw();

  function keep() {
    const words = search.value.toLowerCase();
    const state = verdict.value;
    table.keep(words || state ? (run) => (!state || stateOf(run) === state)
      && (!words || run.scenario_id.toLowerCase().includes(words) || (run.reason ?? "").includes(words) || (run.detail ?? "").toLowerCase().includes(words)) : null);
    counted();
  }

  function counted() {
    const cut = of.progress.total > MOST_RUNS ? `; the first ${number(MOST_RUNS)} of ${number(of.progress.total)} are shown` : "";
    count.textContent = `${number(table.count)} runs${cut}`;
  }

  function drawTop() {
    document.title = `${of.name.slice(0, 60)} · harena`;
    const { progress } = of;
    const scored = progress.passed + progress.failed;
    fill(top, el("h1", said(of.name, 400), " ", stateMark(of.state)), parts(progress),
      el("div.bar.note", el("span", of.id), el("span", `blueprint ${of.blueprint}`),
        of.lineage?.scenarios ? el("span", `scenarios ${of.lineage.scenarios}`) : null,
        el("a", { href: `#/compare/${encodeURIComponent(of.id)}/` }, "compare"),
        of.name === CALIBRATION ? el("a", { href: `#/audits/${encodeURIComponent(of.id)}` }, "report of the audit") : null,
        of.ended_at ? null : el("button", { type: "button", onclick: cancel }, "Cancel")),
      of.error ? el("p.problem", said(of.error, 2000)) : null);
    const told = summary?.summary;
    fill(tiles, tile(share(told ? told.pass_rate : scored ? progress.passed / scored : null), "passed, of the scored"),
      tile(number(told?.mean_score), "mean score"),
      tile(`${number(progress.done)} / ${number(progress.total)}`, "runs done"), tile(number(progress.running), "running"),
      tile(number(progress.infra + progress.invalid), "without a score"),
      tile(share(told?.hack_rate), "hack rate"),
      tile(seconds(of.duration_seconds), told ? `took, ${number(told.runs_per_second, 1)} runs/s` : "took"));
  }

  async function cancel() {
    if (!confirm("Cancel this job? Its running sandboxes are stopped; what has ended stays.")) return;
    try {
      of = await post(`v1/benchmark_jobs/${part(of.id)}/cancel`, {}, signal);
      drawTop();
    } catch (error) {
      connected(error);
    }
  }

  function show() {
    const run = wanted === null ? null : runs[wanted];
    panel.hidden = !run;
    split.classList.toggle("open", Boolean(run));
    if (run) {
      fill(panel, runDetails(of, run, { siblings: siblings(run), close, signal, here }));
    }
    map.choose(run ? wanted : -1);
    table.redraw();
  }

  function siblings(run) {
    const first = run.run - (run.attempt - 1);
    return runs.slice(first, first + of.config.attempts).filter((one) => one && one.scenario_id === run.scenario_id);
  }

  function close() { location.hash = here; }
  window.addEventListener("harena-escape", () => { if (wanted !== null) close(); }, { signal });
  window.addEventListener("harena-theme", map.redraw, { signal });

  async function sum() {
    summary = await get(`v1/benchmark_jobs/${part(of.id)}/summary`, {}, signal);
    drawTop();
  }

  const id = of.id;
  const results = liveRuns(of, runs, { signal, lost: connected, changed: draw });
  const small = of.progress.total <= MOST_SUMMED;
  if (small) sum().catch(connected);
  results.then(async () => {
    if (signal.aborted) return;
    of = await get(`v1/benchmark_jobs/${part(id)}`, {}, signal);
    await sum();
    draw();
  }).catch((error) => { if (!signal.aborted) connected(error); });
  if (!of.ended_at) {
    let asked = 0;
    const ended = new AbortController();
    watch(async () => {
      of = await get(`v1/benchmark_jobs/${part(id)}`, {}, signal);
      drawTop();
      if (small && asked++ % 5 === 4) await sum();
      if (of.ended_at) ended.abort();
    }, { signal: AbortSignal.any([signal, ended.signal]), failed: connected });
  }
  return (next) => {
    wanted = next[1] === "runs" ? Number(next[2]) : null;
    show();
    if (wanted !== null && !panel.hidden) { panel.scrollTop = 0; panel.scrollIntoView({ block: "nearest" }); }
  };
}

export function tile(value, name) {
  return el("div.tile", el("b", value), el("span", name));
}
