// What changed from one benchmark job to another, in the words of `harena benchmark diff`: a scenario passes where more
// than half of its scored attempts do.
import { get, part } from "./api.js";
import { el, fill, said } from "./dom.js";
import { stateMark } from "./jobs.js";
import { tile } from "./job.js";
import { rows } from "./rows.js";
import { loadRuns } from "./runs.js";
import { number, share } from "./words.js";

const SAID = { newly_passing: "newly passing", newly_failing: "newly failing", score: "other score", reason: "other reason",
  unscored: "without a score", only_in_a: "only in the first", only_in_b: "only in the second", same: "the same" };
const MARKS = { newly_passing: "passed", newly_failing: "failed", score: "partial", unscored: "infra" };

export async function compare({ main, parts: [a, b], signal, connected }) {
  const page = await get("v1/benchmark_jobs", { limit: 500 }, signal);
  const jobs = page.benchmark_jobs;
  const choose = (chosen, label, other) => el("select", { "aria-label": label, onchange: (event) => {
    const next = event.target.value;
    location.hash = other ? `#/compare/${part(a)}/${part(next)}` : `#/compare/${part(next)}/${part(b ?? "")}`;
  } }, el("option", { value: "" }, "choose a job"), jobs.map((job) =>
    el("option", { value: job.id, selected: job.id === chosen }, `${job.name.slice(0, 60)} · ${job.id}`)));
  const pickers = el("div.bar", choose(a, "The first job", false), el("span", "→"), choose(b, "The second job", true));
  const below = el("div");
  fill(main, el("h1", "Comparison of two jobs"), pickers, below);
  if (!a || !b) {
    fill(below, el("p.note", "Choose the job to compare with."));
    return;
  }
  const sides = await Promise.all([a, b].map(async (id) => {
    const job = await get(`v1/benchmark_jobs/${part(id)}`, {}, signal);
    const runs = [];
    await loadRuns(id, runs, () => {}, signal);
    return { job, scenarios: byScenario(runs) };
  }));
  connected(null);
  show(below, sides);
}

function byScenario(runs) {
  const found = new Map();
  for (const run of runs) {
    if (!run) continue;
    let of = found.get(run.scenario_id);
    if (!of) found.set(run.scenario_id, of = { attempts: 0, scored: 0, passed: 0, sum: 0, reasons: {}, first: run.run, problem: run.problem ?? run.scenario_id });
    of.attempts += 1;
    if (run.score === null || run.score === undefined) continue;
    of.reasons[run.reason] = (of.reasons[run.reason] ?? 0) + 1;
    of.scored += 1;
    of.passed += run.passed ? 1 : 0;
    of.sum += run.score;
  }
  return found;
}

export function changeOf(a, b) {
  if (!a) return "only_in_b";
  if (!b) return "only_in_a";
  if (!a.scored || !b.scored) return "unscored";
  if (passes(a) !== passes(b)) return passes(b) ? "newly_passing" : "newly_failing";
  if (Math.abs(a.sum / a.scored - b.sum / b.scored) > 1e-12) return "score";
  return Object.keys({ ...a.reasons, ...b.reasons }).every((reason) => a.reasons[reason] && b.reasons[reason]) ? "same" : "reason";
}

function passes(of) { return 2 * of.passed > of.scored; }

/** What both jobs have of each problem, over all its candidates that are scored in both. */
function byProblem(changes) {
  const found = new Map();
  for (const { a, b } of changes) {
    if (!a?.scored || !b?.scored) continue;
    const none = { scored: 0, passed: 0 };
    const sums = found.get(b.problem) ?? [none, none];
    found.set(b.problem, sums.map((sum, side) => {
      const one = side ? b : a;
      return { scored: sum.scored + one.scored, passed: sum.passed + one.passed };
    }));
  }
  return [...found.values()];
}

/** The exact test of McNemar: how probable a split at least as uneven is where both jobs are equally good. */
export function mcnemar(better, worse) {
  const all = better + worse;
  let logarithm = -all * Math.LN2;  // of the probability of k of them; itself it would be below what a number holds
  let sum = 0;
  for (let k = 0; k <= Math.min(better, worse); k++) {
    sum += Math.exp(logarithm);
    logarithm += Math.log((all - k) / (k + 1));
  }
  return Math.min(1, 2 * sum);
}

function show(below, [a, b]) {
  const ids = new Set([...a.scenarios.keys(), ...b.scenarios.keys()]);
  const changes = [...ids].map((id) => {
    const [one, other] = [a.scenarios.get(id), b.scenarios.get(id)];
    const both = one?.scored && other?.scored;
    return { id, a: one, b: other, change: changeOf(one, other), difference: both ? other.sum / other.scored - one.sum / one.scored : null };
  });
  const counts = {};
  for (const one of changes) counts[one.change] = (counts[one.change] ?? 0) + 1;
  const problems = byProblem(changes);
  const rates = [0, 1].map((side) => problems.length ? problems.reduce((sum, one) => sum + one[side].passed / one[side].scored, 0) / problems.length : null);
  const better = problems.filter(([one, other]) => passes(other) && !passes(one)).length;
  const several = problems.some((sides) => sides.some((one) => one.scored > 1));
  const worse = problems.filter(([one, other]) => passes(one) && !passes(other)).length;
  const table = rows([
    { name: "scenario", width: "minmax(0, 2fr)", value: (one) => one.id, show: (one) => said(one.id, 80) },
    { name: "change", width: "9rem", value: (one) => one.change, show: (one) => el("span.mark", { class: `mark ${MARKS[one.change] ?? ""}` }, SAID[one.change]) },
    { name: "first", width: "5rem", number: true, value: (one) => ratio(one.a), show: (one) => passedOf(a.job, one.a) },
    { name: "second", width: "5rem", number: true, value: (one) => ratio(one.b), show: (one) => passedOf(b.job, one.b) },
    { name: "difference", width: "6rem", number: true, wide: true, value: (one) => one.difference, show: (one) => signed(one.difference) },
  ], { label: "Scenarios", none: "no scenario changed in this way" });
  const only = el("select", { "aria-label": "Which scenarios", onchange: () => keep() },
    el("option", { value: "changed" }, `changed (${changes.length - (counts.same ?? 0)})`), el("option", { value: "" }, `all (${changes.length})`),
    Object.keys(SAID).filter((kind) => counts[kind]).map((kind) => el("option", { value: kind }, `${SAID[kind]} (${counts[kind]})`)));
  const keep = () => table.keep((one) => !only.value || (only.value === "changed" ? one.change !== "same" : one.change === only.value));
  fill(below,
    el("div.bar", el("a", { href: `#/jobs/${a.job.id}` }, said(a.job.name, 80)), stateMark(a.job.state), "→",
      el("a", { href: `#/jobs/${b.job.id}` }, said(b.job.name, 80)), stateMark(b.job.state)),
    el("div.tiles",
      tile(`${share(rates[0])} → ${share(rates[1])}`, "passed, over what both have scored"),
      tile(signed(problems.length ? rates[1] - rates[0] : null, share), "difference of pass rates"),
      tile(number(better), "problems that pass now"), tile(number(worse), "that pass no longer"),
      tile(number(mcnemar(better, worse)), several ? "McNemar's p over problems, by the majority of their answers" : "McNemar's p: chance alone"),
      tile(number(changes.filter((one) => one.a?.scored && one.b?.scored).length), "scenarios scored in both")),
    el("div.bar", only), table.element);
  table.set(changes);
  keep();
}

function ratio(of) {
  return of?.scored ? of.passed / of.scored : null;
}

function passedOf(job, of) {
  if (!of) return "–";
  return el("a", { href: `#/jobs/${job.id}/runs/${of.first}` }, `${of.passed} / ${of.scored}`);
}

function signed(value, shown = number) {
  if (value === null) return "–";
  return `${value > 0 ? "+" : ""}${shown(value)}`;
}
