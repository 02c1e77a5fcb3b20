// One run in depth: its verdict and what stands behind it, its candidate and its questions where the server keeps them.
import { get, part } from "./api.js";
import { block, el, fill, json, pairs, said } from "./dom.js";
import { stateOf } from "./heat.js";
import { bytes, number, seconds } from "./words.js";

const DIGESTS = [
  ["evidence", "evidence"], ["candidate", "candidate_digest"], ["scenario", "scenario_digest"],
  ["blueprint", "blueprint_digest"], ["image", "image_digest"],
];

export function runDetails(job, run, { siblings, close, signal, here }) {
  const state = stateOf(run);
  const stored = el("div");
  const made = [
    el("div.bar", el("h2", said(run.scenario_id, 200)), el("span.spacer"),
      el("button", { type: "button", onclick: close, "aria-label": "Close this run" }, "✕")),
    el("div.bar", el("span.mark", { class: `mark ${state}` }, state), el("b", `score ${number(run.score)}`),
      run.reason ? el("span", run.reason) : null, run.honeypot ? el("span.mark.suspect", "honeypot") : null),
    run.detail ? block(run.detail, { label: "What the scorer says" }) : null,
    siblings.length > 1 ? el("div.bar", el("span.note", "attempts"), siblings.map((one) => el("a", {
      href: `${here}/runs/${one.run}`, class: `mark ${stateOf(one)}`, "aria-current": one === run ? "true" : null,
    }, one.attempt))) : null,
    pairs([
      ["checks", run.checks_planned ? `${run.checks_passed} passed, ${run.checks_run} asked, ${run.checks_planned} planned` : null],
      ["trust", run.trust ? `${run.trust}${run.trust === "separate" ? " (verdict out of the candidate's reach)" : " (candidate and verdict share a process)"}` : null],
      ["scorer", run.scorer_version],
      ["took", seconds(run.duration_seconds)],
      ["processor", run.cpu_seconds === undefined ? null : seconds(run.cpu_seconds)],
      ["most memory", run.peak_memory_bytes === undefined ? null : bytes(run.peak_memory_bytes)],
      ["retries", run.platform_retries ? `${run.platform_retries} tries that the platform lost` : null],
      ["profile", run.profile],
      ["problem", run.problem],
      ["known verdict", run.expected ? `${run.expected.passed ? "passes" : "fails"}; ${run.verdict_right === null ? "not judged" : run.verdict_right ? "judged right" : "judged wrong"}` : null],
      ["scored again", run.rescore ? (run.rescore.agrees === null ? `no answer: ${run.rescore.error}` : run.rescore.agrees ? "the same" : `${number(run.rescore.score)}: differs`) : null],
      ["scenarios", run.scenario_version],
      ["contract", run.contract_version],
    ]),
    el("h3", "Evidence"),
    pairs(DIGESTS.map(([name, field]) => [name, run[field] ? el("code", said(run[field])) : null])),
    run.metadata && Object.keys(run.metadata).length ? json(run.metadata, "The scenario's metadata") : null,
    stored,
  ];
  questions(job, run, stored, signal);
  return made;
}

/** Questions, right answers and candidates of stored scenarios. */
async function questions(job, run, place, signal) {
  if (!run.scenario_version) {
    fill(place, el("p.note", "The candidate and the questions came with the job, and a server keeps them only until the job has "
      + "ended: their digests above say which they were. `harena scenario create` stores scenarios, which are then shown here."));
    return;
  }
  fill(place, el("button", { type: "button", onclick: async () => {
    try {
      const found = await get(`v1/scenarios/${part(run.scenario_version)}`, { content: true }, signal);
      fill(place, shownScenario(found, run));
    } catch (error) {
      fill(place, el("p.problem", said(error.message, 500)));
    }
  } }, "Show the scenario as it is stored"));
}

function shownScenario(found, run) {
  const scenarios = Array.isArray(found.scenarios) ? found.scenarios : found.scenarios?.scenarios;
  const own = Array.isArray(scenarios) ? scenarios.find((one) => [one.id, one.name, one.task_id, one.scenario_id].includes(run.scenario_id)) : null;
  if (!own) return [json(found.scenarios, `Stored as ${found.ref}`)];
  const { candidate, solution, statement, prompt, scoring, contract, checks, ...rest } = own;
  const texts = [["Statement", statement ?? prompt], ["Candidate", candidate ?? solution], ["What is asked, and what is expected", scoring ?? contract ?? checks], ["The rest", Object.keys(rest).length ? rest : null]];
  return texts.filter(([, value]) => value !== undefined && value !== null)
    .map(([label, value]) => typeof value === "string" ? block(value, { label }) : json(value, label));
}
