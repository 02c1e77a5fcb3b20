// Training jobs with live progress; curves of those that are chosen, laid over one another; and what a job says.
import { get, part, post, watch } from "./api.js";
import { chart, COLOURS, GROUPS, merge, namesOf, telling } from "./curves.js";
import { el, fill, framed, said } from "./dom.js";
import { stateMark } from "./jobs.js";
import { tile } from "./job.js";
import { rows } from "./rows.js";
import { ago, number } from "./words.js";

const MOST_JOBS = COLOURS.length;

export async function training({ main, parts, query, signal, connected }) {
  const one = parts[0] ?? null;
  let found = [];
  /** id -> {job, metrics, cursor}, of the jobs whose curves are shown */
  const chosen = new Map();
  const wanted = new Set(one ? [one] : (query.get("jobs") ?? "").split(",").filter(Boolean));
  let untouched = !one && wanted.size === 0;
  const top = el("div");
  const curves = el("div.grid");
  const under = el("div");
  const another = el("select", { "aria-label": "Another metric", onchange: () => { extra.add(another.value); another.value = ""; draw(); } });
  const extra = new Set();
  const charts = new Map();
  const table = one ? null : rows([
    { name: "", width: "1.2rem", show: (job) => pick(job) },
    { name: "job", width: "minmax(0, 2fr)", value: (job) => job.name, show: (job) => el("a", { href: `#/training/${part(job.id)}` }, said(job.name)) },
    { name: "state", width: "6.5rem", value: (job) => job.state, show: (job) => stateMark(job.state) },
    { name: "step", width: "6rem", number: true, value: (job) => job.progress.step, show: (job) => stepOf(job) },
    { name: "reward", width: "4.6rem", number: true, value: (job) => job.metrics["train/reward"] ?? null, show: (job) => number(job.metrics["train/reward"]) },
    { name: "kind", width: "6rem", wide: true, value: (job) => job.algorithm ?? job.trainer_type },
    { name: "model", width: "minmax(0, 1fr)", wide: true, value: (job) => job.model ?? "", show: (job) => said(job.model ?? "", 60) },
    { name: "created", width: "6rem", wide: true, number: true, value: (job) => job.created_at, show: (job) => ago(job.created_at) },
  ], { label: "Training jobs", key: (job) => job.id, none: "no training job yet: `harena train rl` and `harena train sft` make some", open: (job) => { location.hash = `#/training/${part(job.id)}`; } });
  fill(main, top, table?.element, el("div.bar", el("h2", "Curves"), another), curves, under);
  if (!one) fill(top, el("h1", "Training jobs"));

  function pick(job) {
    const box = el("input", { type: "checkbox", checked: wanted.has(job.id), "aria-label": `curves of ${job.id}`, onchange: (event) => {
      untouched = false;
      if (event.target.checked) wanted.add(job.id); else { wanted.delete(job.id); chosen.delete(job.id); }
      history.replaceState(null, "", `#/training?jobs=${[...wanted].map(part).join(",")}`);
      measure().catch(connected);
      draw();
    } });
    box.style.setProperty("accent-color", COLOURS[[...wanted].indexOf(job.id) % COLOURS.length] ?? "");
    return box;
  }

  const draw = framed(() => {
    const shown = [...wanted].slice(0, MOST_JOBS).map((id) => chosen.get(id)).filter(Boolean);
    const names = [...new Set(shown.flatMap(({ metrics }) => Object.keys(metrics).filter((name) => Array.isArray(metrics[name]))))]
      .filter((name) => !["steps", "eval/steps"].includes(name)).sort();
    const groups = [...GROUPS, ...[...extra].filter(Boolean).map((name) => [name, [name]])];
    const order = [];
    for (const [title, wants] of groups) {
      const series = namesOf(wants, names).flatMap((name, metric) => shown.map((of, job) => ({ label: of.job.name, name, metrics: of.metrics, job, metric })))
        .filter(({ metrics, name }) => Array.isArray(metrics[name]));
      if (!series.length) continue;
      if (!charts.has(title)) charts.set(title, chart(title));
      order.push([charts.get(title), telling(series)]);
    }
    const elements = order.map(([made]) => made.element);
    if (elements.length !== curves.children.length || elements.some((element, place) => curves.children[place] !== element)) {
      fill(curves, elements.length ? elements : el("p.note", shown.length ? "nothing was measured yet" : "choose jobs above"));
    }
    for (const [made, series] of order) made.set(series, shown.length);
    const others = names.filter((name) => !groups.some(([, wants]) => namesOf(wants, [name]).length));
    if (another.childElementCount !== others.length + 1) {
      fill(another, el("option", { value: "" }, "another metric"), others.map((name) => el("option", { value: name }, name.slice(0, 80))));
    }
    another.hidden = !others.length;
  });

  async function measure() {
    const ids = [...wanted].slice(0, MOST_JOBS);
    await Promise.all(ids.map(async (id) => {
      let of = chosen.get(id);
      const job = found.find((job) => job.id === id || job.name === id) ?? (await get(`v1/training_jobs/${part(id)}`, {}, signal));
      if (of && of.cursor >= job.cursor) { of.job = job; return; }
      of ??= { job, metrics: {}, cursor: 0 };
      for (;;) {
        const told = await get(`v1/training_jobs/${part(id)}/metrics`, { after: of.cursor }, signal);
        of = { job, metrics: merge(told.anew ? {} : of.metrics, told.metrics), cursor: told.cursor };
        if (!told.more) break;
      }
      if (wanted.has(id)) chosen.set(id, of);
      draw();
    }));
  }

  let last = "";
  let heard = 0;
  watch(async () => {
    if (one) {
      const job = await get(`v1/training_jobs/${part(one)}`, {}, signal);
      found = [job];
      const now = JSON.stringify(job);
      if (now !== last) { drawOne(job); heard = await listen(job, heard); }
      last = now;
    } else {
      found = (await get("v1/training_jobs", { limit: 100 }, signal)).training_jobs;
      if (untouched && found.length) { wanted.add(found[0].id); untouched = false; }
      const now = JSON.stringify(found);
      if (now !== last) table.set(found);
      last = now;
    }
    await measure();
  }, { signal, failed: connected });
  draw();
  window.addEventListener("harena-theme", () => { for (const made of charts.values()) made.redraw(); }, { signal });

  function drawOne(job) {
    fill(top, el("h1", said(job.name, 400), " ", stateMark(job.state)),
      el("div.bar.note", el("span", job.id), el("span", job.algorithm ?? job.trainer_type), job.model ? said(job.model, 80) : null,
        el("a", { href: `#/training/${part(job.id)}/rollouts` }, "rollouts"), el("a", { href: "#/training" }, "all jobs"),
        job.ended_at ? null : el("button", { type: "button", onclick: async () => {
          if (!confirm("Cancel this job? What it has learned so far stays.")) return;
          try { await post(`v1/training_jobs/${part(job.id)}/cancel`, {}, signal); } catch (error) { connected(error); }
        } }, "Cancel")),
      job.error ? el("p.problem", said(job.error, 4000)) : null,
      el("div.tiles", tile(stepOf(job), "steps"), tile(number(job.metrics["train/reward"]), "reward"),
        tile(number(job.metrics["eval/pass_rate"]), "pass rate, held out"), tile(number(job.metrics["train/entropy"]), "entropy"),
        tile(number(job.metrics["train/seconds/step"]), "seconds of the last step"), tile(number(job.restarts), "restarts")));
  }

  const log = [];
  const logTable = rows([
    { name: "when", width: "5.4rem", value: (line) => line.at, show: (line) => line.at.slice(11, 19) },
    { name: "what", width: "8.6rem", wide: true, value: (line) => line.kind, show: (line) => line.kind.replaceAll("_", " ") },
    { name: "message", width: "minmax(0, 1fr)", value: (line) => line.message, show: (line) => el("span", { class: line.level === "info" ? "" : `problem ${line.level}` }, said(line.message, 400)) },
  ], { label: "Log", none: "nothing was said yet" });

  async function listen(job, after) {
    if (!log.length) fill(under, el("h2", "Log"), logTable.element);
    for (;;) {
      const page = await get(`v1/training_jobs/${part(job.id)}/logs`, { after }, signal);
      if (!page.items.length) return page.cursor;
      log.push(...page.items);
      logTable.set(log);
      after = page.cursor;
    }
  }
}

function stepOf(job) {
  return `${number(job.progress.step)} / ${job.progress.steps === null ? "?" : number(job.progress.steps)}`;
}
