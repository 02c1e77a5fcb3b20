// Curves of training jobs, several jobs laid over one another: a colour for each job and a dash for each metric, or a
// colour for each metric where there is one job.
import { el, fill, said, visible } from "./dom.js";
import { coloured } from "./heat.js";
import { number } from "./words.js";

export const COLOURS = ["#3987d8", "#e08a2e", "#35a16b", "#c75a9b", "#8c6bd1", "#b5a02a", "#cf4f4f", "#3aa6b0"];
const DASHES = [[], [6, 4], [2, 3], [10, 4, 2, 4]];
const HEIGHT = 190;
const EVAL = "eval/";

/** Title, and which metrics belong to it, by name or pattern; those that no job has are left out. */
export const GROUPS = [
  ["Reward", ["train/reward", "eval/reward"]],
  ["Pass rate", ["train/pass_rate", "eval/pass_rate", "eval/greedy_pass_rate"]],
  ["Hack rate", [/hack_rate/]],
  ["Entropy", ["train/entropy"]],
  ["Lengths (tokens)", ["train/length/p50", "train/length/p99"]],
  ["Staleness (versions)", ["train/staleness/mean", "train/staleness/max"]],
  ["Where the time went (s)", [/^train\/seconds\/(?!step$)/]],
  ["Loss", ["train/loss", "eval/loss"]],
  ["Trainer from sampler (k3)", ["train/k3_mu"]],
  ["Gradient norm", ["train/gradient_norm"]],
  ["Shares of rollouts", ["train/masked_share", "train/truncated_share", "train/constant_group_share"]],
];

/** Which of these metric names belong to a group. */
export function namesOf(wanted, names) {
  return names.filter((name) => wanted.some((one) => (typeof one === "string" ? one === name : one.test(name))));
}

/** Which of these series say something: of many metrics, those that are 0 throughout are left out. */
export function telling(series) {
  const told = new Set(series.filter(({ metrics, name }) => metrics[name].some((value) => value)).map(({ name }) => name));
  return told.size && new Set(series.map(({ name }) => name)).size > 3 ? series.filter(({ name }) => told.has(name)) : series;
}

/** Add what was measured since to what was measured before: as `harena.core.training_jobs.merge_metrics`. */
export function merge(old, told) {
  const merged = { ...old };
  for (const axis of ["steps", "eval/steps"]) {
    const steps = told[axis];
    if (!Array.isArray(steps) || !steps.length) continue;
    const before = old[axis] ?? [];
    let kept = before.findIndex((step) => step === null || step >= steps[0]);
    if (kept < 0) kept = before.length;
    const along = (name, of) => Array.isArray(of[name]) && (name.startsWith(EVAL) ? EVAL + "steps" : "steps") === axis;
    for (const name of new Set([...Object.keys(old), ...Object.keys(told)])) {
      if (!along(name, told) && !along(name, old)) continue;
      const standing = (old[name] ?? []).slice(0, kept);
      const values = (told[name] ?? []).slice(0, steps.length);
      const empty = (count) => Array(Math.max(0, count)).fill(null);
      merged[name] = [...standing, ...empty(kept - standing.length), ...values, ...empty(steps.length - values.length)];
    }
  }
  for (const [name, value] of Object.entries(told)) if (!Array.isArray(value)) merged[name] = value;
  return merged;
}

/** One chart. `series`: {label, name, metrics, job, metric} with `job` and `metric` as places for colour and dash. */
export function chart(title) {
  const place = el("div.curve");
  const under = el("div.legend");
  const element = el("div.sheet", el("h3", title), place, under);
  let plot = null;
  let shown = "";
  let series = [];
  let data = [[]];
  let several = false;

  function colour(one) { return COLOURS[(several ? one.job : one.metric) % COLOURS.length]; }

  function set(next, jobs) {
    series = next;
    several = jobs > 1;
    const lines = series.map(({ metrics, name }) => [metrics[name.startsWith(EVAL) ? "eval/steps" : "steps"] ?? [], metrics[name] ?? []]);
    data = lines.length ? window.uPlot.join(lines.map(([x, y]) => increasing(x, y))) : [[]];
    const made = JSON.stringify([several, series.map((one) => [one.label, one.name, one.job, one.metric])]);
    if (plot && made === shown) plot.setData(data);
    else draw();
    shown = made;
    legend(null);
  }

  function draw() {
    plot?.destroy();
    plot = null;
    const width = place.clientWidth;
    if (!width || !series.length) return;
    const axis = { stroke: () => coloured("--faint"), grid: { stroke: () => coloured("--line"), width: 1 }, ticks: { stroke: () => coloured("--line"), width: 1 },
      font: "11px system-ui, sans-serif" };
    plot = new window.uPlot({
      width, height: HEIGHT, legend: { show: false }, scales: { x: { time: false } },
      cursor: { drag: { x: true, y: false }, sync: { key: "harena-steps" } },
      axes: [{ ...axis, size: 26 }, { ...axis, size: 52, values: (_, values) => values.map((value) => number(value)) }],
      series: [{ label: "step" }, ...series.map((one) => ({
        label: one.name, stroke: colour(one), width: 1.6, dash: several ? DASHES[one.metric % DASHES.length] : [], spanGaps: true,
        points: { show: data[0].length < 40, size: 4 },
      }))],
      hooks: { setCursor: [(of) => legend(of.cursor.idx ?? null)] },
    }, data, place);
  }

  function legend(at) {
    // an entry for each metric, with the value of each job in its colour
    const entries = new Map();
    series.forEach((one, line) => {
      const values = data[line + 1] ?? [];
      let place = at ?? values.length - 1;
      while (at === null && place > 0 && (values[place] === null || values[place] === undefined)) place -= 1;
      const dot = el("i", { title: visible(one.label) });
      dot.style.setProperty("background", colour(one));
      entries.set(one.name, [...(entries.get(one.name) ?? []), dot, `${number(values[place])} `]);
    });
    fill(under, [...entries].map(([name, values]) => el("span", said(name.replace(/^train\//, ""), 40), " ", values)),
      at === null ? null : el("span", `step ${data[0][at] ?? ""}`));
  }

  new ResizeObserver(() => {
    if (plot && place.clientWidth) plot.setSize({ width: place.clientWidth, height: HEIGHT });
    else draw();
  }).observe(place);
  return { element, set, redraw: () => plot?.redraw() };
}

/** uPlot wants steps that grow; values that are no numbers are gaps. */
function increasing(x, y) {
  const found = new Map();
  x.forEach((step, place) => { if (Number.isFinite(step)) found.set(step, Number.isFinite(y[place]) ? y[place] : null); });
  const steps = [...found.keys()].sort((one, other) => one - other);
  return [steps, steps.map((step) => found.get(step))];
}
