// The workspace's sandboxes: which there are, what each may use, what runs in it, and what it reached of the network.
import { get, part, post, watch } from "./api.js";
import { block, el, fill, json, pairs, said } from "./dom.js";
import { tile } from "./job.js";
import { stateMark } from "./jobs.js";
import { rows } from "./rows.js";
import { ago, bytes, number, seconds } from "./words.js";

const LIVE = ["pending", "creating", "preparing", "running", "paused", "terminating"];

export async function sandboxes({ main, parts: [id], signal, connected }) {
  let found = [];
  const all = el("input", { type: "checkbox", onchange: () => look().catch(connected) });
  const search = el("input", { type: "search", placeholder: "id, tag, blueprint or image", "aria-label": "Search sandboxes", oninput: () => keep() });
  const tiles = el("div.tiles");
  const panel = el("section.sheet.panel", { "aria-label": "One sandbox", tabindex: "-1", hidden: true });
  const table = rows([
    { name: "sandbox", width: "minmax(0, 1.4fr)", value: (box) => box.id, show: (box) => said(box.id, 60) },
    { name: "status", width: "6.6rem", value: (box) => box.status, show: (box) => stateMark(box.status) },
    { name: "blueprint", width: "minmax(0, 1fr)", value: (box) => box.blueprint ?? "", show: (box) => said(box.blueprint ?? "–", 60) },
    { name: "tags", width: "minmax(0, 1fr)", wide: true, value: (box) => box.tags.join(" "), show: (box) => said(box.tags.join(" "), 80) },
    { name: "memory", width: "6rem", wide: true, number: true, value: (box) => box.limits.memory_bytes ?? null, show: (box) => bytes(box.limits.memory_bytes ?? null) },
    { name: "cpu", width: "3.4rem", wide: true, number: true, value: (box) => box.limits.cpu ?? null, show: (box) => number(box.limits.cpu ?? null) },
    { name: "created", width: "6rem", number: true, value: (box) => box.created_at, show: (box) => ago(box.created_at) },
  ], { label: "Sandboxes", key: (box) => box.id, none: "no sandbox lives: `harena.Sandbox.run()` makes one; those of jobs live for one run each",
    open: (box) => { location.hash = `#/sandboxes/${part(box.id)}`; }, chosen: (box) => box.id === id });
  const split = el("div.split", el("div", el("div.bar", search, el("label.pick", all, "also those that have ended")), table.element), panel);
  fill(main, el("h1", "Sandboxes"), tiles, split);

  function keep() {
    const words = search.value.toLowerCase();
    table.keep(words ? (box) => [box.id, box.blueprint, box.image, ...box.tags].some((value) => String(value ?? "").toLowerCase().includes(words)) : null);
  }

  let last = "";
  async function look() {
    const boxes = [];
    let cursor = null;
    do {
      const page = await get("v1/sandboxes", { limit: 1000, cursor, include_terminal: all.checked }, signal);
      boxes.push(...page.sandboxes);
      cursor = page.next_cursor ?? null;
    } while (cursor !== null && boxes.length < 20_000);
    const now = JSON.stringify(boxes);
    if (now !== last) draw(boxes);
    last = now;
    if (id) await show();
  }

  function draw(boxes) {
    found = boxes;
    table.set(found);
    const live = found.filter((box) => LIVE.includes(box.status));
    const sum = (name) => live.reduce((total, box) => total + (box.limits[name] ?? 0), 0);
    fill(tiles, tile(number(live.length), "living"), tile(number(live.filter((box) => box.status === "running").length), "running"),
      tile(bytes(sum("memory_bytes")), "memory that they may use"), tile(sum("cpu") ? number(sum("cpu")) : "all", "processors that they may use"),
      tile(bytes(sum("disk_bytes")), "disk that they may use"));
  }

  let told = "";

  async function show() {
    const box = found.find((one) => one.id === id);
    panel.hidden = !box;
    split.classList.toggle("open", Boolean(box));
    if (!box) return;
    const running = box.status === "running";
    const processes = running ? await get(`v1/sandboxes/${part(id)}/processes`, {}, signal).catch(() => null) : null;
    const use = running ? await get(`v1/sandboxes/${part(id)}/usage`, {}, signal).catch(() => null) : null;
    const told_ = await get(`v1/sandboxes/${part(id)}/outputs`, {}, signal).catch(() => null);
    const list = processes?.processes ?? [];
    const commands = told_?.commands ?? [];
    const now = JSON.stringify([box, list, use, commands]);
    if (now === told) return;
    told = now;
    fill(panel, el("div.bar", el("h2", said(box.id)), stateMark(box.status), el("span.spacer"),
        running ? el("button", { type: "button", onclick: stop }, "Stop") : null,
        el("button", { type: "button", onclick: close, "aria-label": "Close this sandbox" }, "✕")),
      box.status_reason ? el("p.note", said(box.status_reason, 1000)) : null,
      pairs([["blueprint", box.blueprint], ["image", box.image], ["profile", box.profile], ["tags", box.tags.join(", ")],
        ["created", box.created_at], ["expires", box.expires_at], ["stopped", box.stopped_at]]),
      use ? [el("h3", "What it uses"), pairs([
        ["memory now", `${bytes(use.memory_bytes)}${box.limits.memory_bytes ? ` of ${bytes(box.limits.memory_bytes)}` : ""}`],
        ["processor time so far", seconds(use.processor_seconds)]])] : null,
      running ? [el("h3", `Processes (${list.length})`), list.length ? list.slice(0, 200).map((one) => el("div", el("code", `${one.pid} ${one.state} `), said(one.command.join(" "), 200))) : el("p.note", "nothing runs in it")] : null,
      el("h3", "What it may use, and how this host keeps it to that"),
      pairs(Object.entries(box.limits).filter(([, value]) => value !== null).map(([name, value]) =>
        [name.replaceAll("_", " "), `${name.endsWith("_bytes") ? bytes(value) : number(value)}${box.enforcement[name] ? ` · ${box.enforcement[name]}` : ""}`])),
      commands.length ? [el("h3", `Newest commands (${commands.length})`), [...commands].reverse().map(command)] : null,
      Object.keys(box.annotations).length ? json(box.annotations, "Annotations") : null);
  }

  async function stop() {
    if (!confirm("Stop this sandbox? What runs in it ends, and what it has written is gone.")) return;
    try { await post(`v1/sandboxes/${part(id)}/stop`, {}, signal); await look(); } catch (error) { connected(error); }
  }

  function close() { location.hash = "#/sandboxes"; }
  window.addEventListener("harena-escape", () => { if (id) close(); }, { signal });
  watch(look, { signal, failed: connected });
}

/** One command, how it ended, and the end of what it printed. */
function command(one) {
  const ended = one.ended_at ? one.outcome === "exited" ? `exit code ${one.returncode}` : one.outcome ?? "its client went" : "runs";
  const shown = (name) => one[name] ? block(one[name], { label: one[`${name}_bytes`] > one[name].length ? `${name}, the end` : name }) : null;
  return el("div", el("div.bar", el("code", said(one.command, 300)), el("span.note", `${ended} · ${ago(one.started_at)}`)), shown("stdout"), shown("stderr"));
}
