// Rollouts of a training job: what the policy was asked, what it said turn by turn, what it was told, and its reward.
import { get, part, text } from "./api.js";
import { block, el, fill, json, pairs, said, visible } from "./dom.js";
import { rows } from "./rows.js";
import { number, seconds } from "./words.js";

/** Most tokens that are laid out, each in its colour. */
const MOST_TOKENS = 8000;

export async function rollouts({ main, parts: [id], signal, connected }) {
  const job = await get(`v1/training_jobs/${part(id)}`, {}, signal);
  const list = el("div");
  const panel = el("section.sheet.panel", { "aria-label": "One rollout", tabindex: "-1", hidden: true });
  const split = el("div.split", list, panel);
  const file = el("input", { type: "file", accept: ".jsonl,.json,.txt", "aria-label": "A file of rollouts of your own", onchange: async () => {
    if (file.files[0]) show(read(await file.files[0].text()), file.files[0]);
  } });
  const search = el("input", { type: "search", placeholder: "prompt, answer or reason", "aria-label": "Search rollouts", oninput: () => keep() });
  fill(main, el("h1", "Rollouts of ", said(job.name, 200)),
    el("div.bar.note", el("a", { href: `#/training/${part(job.id)}` }, "back to the job"), el("label.pick", "or of a samples.jsonl of your own: ", file)),
    el("div.bar", search), split);
  let table = null;

  function keep() {
    const words = search.value.toLowerCase();
    table?.keep(words ? (one) => [one.prompt, one.text, one.reward?.reason].some((value) => String(value ?? "").toLowerCase().includes(words)) : null);
  }

  /** Show the rollouts of a file that the reader chose (null = the job's). What loads later replaces no choice. */
  function show(found, from = null) {
    if (from !== (file.files[0] ?? null)) return;
    let chosen = null;
    const groups = meansOf(found);
    const open = (one) => {
      chosen = one;
      panel.hidden = false;
      split.classList.add("open");
      fill(panel, details(one, groups));
      panel.scrollIntoView({ block: "nearest" });
    };
    table = rows([
      { name: "step", width: "3.6rem", number: true, value: (one) => one.step },
      { name: "group", width: "3.6rem", number: true, wide: true, value: (one) => one.group },
      { name: "reward", width: "4.2rem", number: true, value: (one) => one.reward?.value ?? null, show: (one) => number(one.reward?.value) },
      { name: "reason", width: "7rem", wide: true, value: (one) => one.reward?.reason ?? "", show: (one) => said(one.reward?.reason ?? "", 40) },
      { name: "stop", width: "5.5rem", wide: true, value: (one) => one.stop ?? "" },
      { name: "turns", width: "3.2rem", number: true, wide: true, value: (one) => one.turns?.length ?? 0 },
      { name: "answer", width: "minmax(0, 2fr)", value: (one) => one.text, show: (one) => said(one.text ?? "", 160) },
    ], { label: "Rollouts", none: "no rollout", open, chosen: (one) => one === chosen });
    fill(list, table.element);
    table.set(found);
    keep();
  }

  window.addEventListener("harena-escape", () => { panel.hidden = true; split.classList.remove("open"); }, { signal });
  const artifacts = await get(`v1/training_jobs/${part(id)}/artifacts`, {}, signal);
  const samples = artifacts.files.find((one) => one.path === artifacts.artifacts.samples);
  if (!samples) {
    if (file.files[0]) return;
    fill(list, el("p.note", job.trainer_type === "rl" ? "This job has written no samples yet: they come with its first checkpoint."
      : "Only jobs of reinforcement learning have rollouts."));
    return;
  }
  try {
    show(read(await text(`v1/training_jobs/${part(id)}/artifacts/file`, { path: samples.path }, { signal })));
  } catch (error) {
    if (!signal.aborted) connected(error);
  }
}

/** One rollout to a line; a last line that was cut off, and what is no object, is left out. */
export function read(lines) {
  const found = [];
  for (const line of lines.split("\n")) {
    if (!line.trim()) continue;
    try {
      const one = JSON.parse(line);
      if (one && typeof one === "object" && !Array.isArray(one)) found.push(one);
    } catch { /* a line that was cut off */ }
  }
  return found;
}

function meansOf(found) {
  const groups = new Map();
  for (const one of found) {
    const value = one.reward?.value;
    if (typeof value !== "number") continue;
    const key = `${one.step}/${one.group}`;
    const of = groups.get(key) ?? { sum: 0, count: 0 };
    groups.set(key, { sum: of.sum + value, count: of.count + 1 });
  }
  return groups;
}

function details(one, groups) {
  const reward = one.reward ?? {};
  const of = groups.get(`${one.step}/${one.group}`);
  const better = of && of.count > 1 && typeof reward.value === "number" ? reward.value - of.sum / of.count : null;
  const told = one.versions ?? one.said?.version;
  const versions = Array.isArray(told) ? told.filter((version) => version >= 0) : null;
  const turns = Array.isArray(one.turns) ? one.turns.filter((of) => of && typeof of === "object") : [];
  return [
    el("div.bar", el("h2", `Step ${one.step ?? "?"}, group ${one.group ?? "?"}, sample ${one.sample ?? "?"}`)),
    el("div.bar", el("b", `reward ${number(reward.value)}`), reward.reason ? said(reward.reason, 60) : null,
      reward.validity && reward.validity !== "valid" ? el("span.mark.suspect", said(reward.validity, 20)) : null),
    pairs([
      ["above its siblings", better === null ? null : `${better > 0 ? "+" : ""}${number(better)} (mean of the ${of.count} shown: ${number(of.sum / of.count)})`],
      ["advantage", typeof one.advantage === "number" ? number(one.advantage) : null],
      ["policy version", versions?.length ? `${versions.reduce((one, other) => Math.min(one, other))} to ${versions.reduce((one, other) => Math.max(one, other))}` : one.version],
      ["stopped by", one.stop],
      ["time", Object.entries(one.seconds ?? {}).map(([name, value]) => `${name} ${seconds(value)}`).join(", ")],
      ["life of the job", one.life],
      ["what the reward says", reward.detail],
    ]),
    partsOf(reward.parts),
    one.prompt === undefined || one.prompt === null ? null : block(typeof one.prompt === "string" ? one.prompt : JSON.stringify(one.prompt, null, 2), { label: "Prompt" }),
    tokensOf(one),
    turns.length ? [el("h3", `${turns.length} turns`), turns.map(turn)] : block(one.text ?? "", { label: "What the policy said" }),
    one.metadata && Object.keys(one.metadata).length ? json(one.metadata, "Metadata") : null,
  ];
}

function partsOf(parts) {
  const entries = Object.entries(parts ?? {});
  return entries.length ? [el("h3", "Parts of the reward"), pairs(entries.map(([name, value]) => [visible(name.slice(0, 80)), number(value)]))] : null;
}

function turn(of, place) {
  return [
    el("div.turn.policy", el("div.note", `turn ${place + 1}: the policy`, of.reward === null || of.reward === undefined ? "" : ` · reward ${number(of.reward)}`,
      of.stop ? ` · ${of.stop}` : ""), toolCalls(of.text), partsOf(of.parts)),
    of.observation ? el("div.turn.told", el("div.note", "what it was told"), block(of.observation)) : null,
  ];
}

const CALL = /(<tool_call>[\s\S]*?<\/tool_call>|```(?:python|bash|sh|json)[\s\S]*?```)/;

/** What was said, the calls of tools apart. */
function toolCalls(said) {
  return String(said ?? "").split(CALL).filter((piece) => piece.trim())
    .map((piece) => CALL.test(piece) ? el("div", el("span.mark.running", "call"), block(piece)) : block(piece));
}

const BY = ["logprob", "advantage", "version"];

/** The tokens of a line: `said` as harena's jobs write it (a list for each column), `tokens` as {text, logprob,
 *  advantage, version}, or the `logprobs.content` of a chat completion. */
function givenTokens(one) {
  if (Array.isArray(one.tokens)) return one.tokens;
  const said = one.said;
  if (!Array.isArray(said?.text)) return one.logprobs?.content;
  return said.text.map((text, place) => ({ text, logprob: said.logprob?.[place], version: said.version?.[place], advantage: one.advantage }));
}

/** Tokens in the colour of what is told of each. */
function tokensOf(one) {
  const given = givenTokens(one);
  if (!Array.isArray(given)) return null;
  const count = Math.max(given.length, Number.isFinite(one.said?.count) ? one.said.count : 0);
  const tokens = given.filter((token) => token && typeof token === "object").slice(0, MOST_TOKENS);
  if (!tokens.length) return null;
  const can = BY.filter((name) => tokens.some((token) => Number.isFinite(token[name])));
  const body = el("div.tokens", { tabindex: "0", dir: "auto", "aria-label": "Tokens" });
  const under = el("div.under.note");
  const paint = (by) => {
    const most = tokens.reduce((found, token) => Math.max(found, Math.abs(token[by]) || 0), 1e-9);
    fill(body, tokens.map((token) => {
      const value = token[by];
      const piece = el("span", visible(token.text ?? token.token ?? ""), {
        title: BY.filter((name) => Number.isFinite(token[name])).map((name) => `${name} ${number(token[name])}`).join(", "),
      });
      if (Number.isFinite(value)) piece.style.setProperty("background", shade(by, value, most));
      return piece;
    }));
    fill(under, by === "logprob" ? "the stronger the colour, the less probable the token was" : by === "advantage" ? "green: reinforced; red: made rarer" : "a colour for each policy version",
      count > tokens.length ? `; ${count - tokens.length} further tokens are left out` : "");
  };
  const choose = el("select", { "aria-label": "Colour tokens by", onchange: () => paint(choose.value) }, can.map((name) => el("option", { value: name }, name)));
  paint(can[0]);
  return [el("div.bar", el("h3", `${count} tokens, by`), choose), body, under];
}

function shade(by, value, most) {
  if (by === "logprob") return `rgb(224 138 46 / ${Math.min(0.85, -value / 6).toFixed(3)})`;
  if (by === "version") return `hsl(${(value * 67) % 360} 60% 50% / 0.35)`;
  const strength = (Math.abs(value) / most) * 0.6;
  return value >= 0 ? `rgb(53 161 107 / ${strength.toFixed(3)})` : `rgb(207 79 79 / ${strength.toFixed(3)})`;
}
