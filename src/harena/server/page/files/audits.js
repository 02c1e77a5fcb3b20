// Reports of audits and calibrations: can the rewards of a data set be cheated, and are its tests strong enough?
import { get, part, pause } from "./api.js";
import { el, fill, pairs, said } from "./dom.js";
import { tile } from "./job.js";
import { rows } from "./rows.js";
import { ago, number, share } from "./words.js";

const GRAVE = ["error", "warning", "note"];

export async function audits({ main, parts: [id], signal }) {
  if (id) return report(main, id, signal);
  const input = el("input", { type: "search", placeholder: "job_… of an audit", "aria-label": "Id of an audit's job", spellcheck: false });
  const form = el("form.bar", { onsubmit: (event) => {
    event.preventDefault();
    if (input.value.trim()) location.hash = `#/audits/${part(input.value.trim())}`;
  } }, input, el("button", { type: "submit" }, "Open"));
  const found = [];
  const table = rows([
    { name: "scenarios", width: "minmax(0, 1.6fr)", value: (one) => one.ref, show: (one) => said(one.ref) },
    { name: "fit", width: "5rem", value: (one) => String(one.fit), show: (one) => fitMark(one.fit, one.state) },
    { name: "flaky", width: "5rem", number: true, value: (one) => one.flake_rate, show: (one) => share(one.flake_rate) },
    { name: "battery", width: "6rem", wide: true, value: (one) => one.battery_version ?? "" },
    { name: "gold runs", width: "5.4rem", wide: true, number: true, value: (one) => one.gold_runs },
    { name: "created", width: "6rem", number: true, value: (one) => one.created_at, show: (one) => ago(one.created_at) },
  ], { label: "Calibrations", key: (one) => one.id, none: "no calibration of stored scenarios: `harena audit` prints its job's id, to be opened above",
    open: (one) => { location.hash = `#/audits/${part(one.id)}`; } });
  fill(main, el("h1", "Audits"), el("p.note", "An audit is a calibration of every problem. Those of stored scenarios are listed; others are opened by the id that `harena audit` has printed."),
    form, table.element);
  const page = await get("v1/scenarios", { limit: 100 }, signal);
  for (const stored of page.scenarios) {
    const whole = await get(`v1/scenarios/${part(stored.ref)}`, {}, signal);
    found.push(...(whole.calibrations ?? []).map((one) => ({ ...one, ref: stored.ref })));
    table.set(found.slice());
  }
}

function fitMark(fit, state) {
  if (fit === null || fit === undefined) return el("span.mark", state ?? "–");
  return el("span.mark", { class: `mark ${fit ? "fit" : "error"}` }, fit ? "fit" : "not fit");
}

async function report(main, id, signal) {
  let found = await get(`v1/calibrations/${part(id)}`, {}, signal);
  const link = el("a", { href: `#/jobs/${part(found.job_id)}` }, "its runs");
  while (!found.report) {
    fill(main, el("h1", "Audit ", said(id, 80)), el("p", `It is ${found.state ?? "deleted"}: a report comes when it has completed. `, link));
    if (found.ended) return;
    await pause(1, signal);
    if (signal.aborted) return;
    found = await get(`v1/calibrations/${part(id)}`, {}, signal);
  }
  const { report: of } = found;
  const panel = el("section.sheet.panel", { "aria-label": "One problem", tabindex: "-1", hidden: true });
  let chosen = null;
  const open = (one) => { chosen = one; panel.hidden = false; fill(panel, problem(one)); split.classList.add("open"); panel.scrollIntoView({ block: "nearest" }); };
  const table = rows([
    { name: "problem", width: "minmax(0, 1.4fr)", value: (one) => one.scenario, show: (one) => said(one.scenario, 80) },
    { name: "verdict", width: "6.5rem", value: (one) => one.verdict, show: (one) => el("span.mark", { class: `mark ${one.fit ? "fit" : "error"}` }, one.verdict.replace("_", " ")) },
    { name: "findings", width: "minmax(0, 1.6fr)", value: (one) => gravity(one), show: (one) => (one.findings ?? []).slice(0, 3).map((finding) => [el("span.mark", { class: `mark ${GRAVE.includes(finding.severity) ? finding.severity : ""}` }, finding.kind.replaceAll("_", " ")), " "]) },
    { name: "gold", width: "5rem", wide: true, number: true, value: (one) => one.true_positive_rate, show: (one) => share(one.true_positive_rate) },
    { name: "wrong passed", width: "6.4rem", wide: true, number: true, value: (one) => one.false_positive_rate, show: (one) => share(one.false_positive_rate) },
    { name: "mutants killed", width: "7rem", wide: true, number: true, value: (one) => killed(one), show: (one) => killed(one) !== null ? `${one.mutants.killed} / ${one.mutants.scored}` : "–" },
  ], { label: "Problems", open, chosen: (one) => one === chosen });
  const split = el("div.split", table.element, panel);
  const counts = Object.entries(of.verdicts ?? {});
  fill(main, el("h1", "Audit of ", said(found.scenarios ?? id, 120), " ", fitMark(of.fit)),
    el("div.bar.note", el("span", `battery ${of.battery_version}`), el("span", `each right answer was run ${of.gold_runs} times`), link),
    el("div.tiles", counts.map(([verdict, count]) => tile(number(count), verdict.replace("_", " "))), tile(share(of.flake_rate), "flaky")), split);
  table.set([...of.scenarios].sort((one, other) => gravity(one) - gravity(other)));
  window.addEventListener("harena-escape", () => { panel.hidden = true; split.classList.remove("open"); }, { signal });
}

function gravity(one) {
  const places = (one.findings ?? []).map((finding) => GRAVE.indexOf(finding.severity)).filter((place) => place >= 0);
  return (one.fit ? 10 : 0) + Math.min(9, ...places);
}

// What fails anyway fails with a mistake, too: mutants count where the right answer passes each time.
function killed(one) {
  return one.mutants?.scored && one.gold?.scored && one.gold.passed === one.gold.scored ? one.mutants.killed / one.mutants.scored : null;
}

function problem(one) {
  return [
    el("h2", said(one.scenario, 200)), one.why ? el("p", said(one.why, 600)) : null,
    (one.findings ?? []).map((finding) => el("div", el("p", el("span.mark", { class: `mark ${GRAVE.includes(finding.severity) ? finding.severity : ""}` }, said(finding.kind)), " ", said(finding.says, 1000)),
      finding.advice ? el("p.note", said(finding.advice, 1000)) : null)),
    pairs([["contract", one.contract], ["trust", one.trust], ["right answers that passed", share(one.true_positive_rate)], ["others that passed", share(one.false_positive_rate)],
      ["empty answer earns", number(one.empty_score)], ["stub earns", number(one.stub_score)],
      ["forgeries paid", (one.battery?.paid ?? []).map((paid) => `${paid.forgery}: ${number(paid.score)} (${paid.tries})`).join("; ")],
      ["mutants that passed", (one.mutants?.survived ?? []).join("; ")], ["lost by the platform", one.unscored_by_platform || null]]),
    (one.faults ?? []).map((fault) => el("p.problem", said(fault, 1000))),
    (one.notes ?? []).map((note) => el("p.note", said(note, 1000))),
  ];
}
