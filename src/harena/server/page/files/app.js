// The page: which view the address names, the key, the keyboard, dark and light.
import * as api from "./api.js";
import { el, fill, said } from "./dom.js";
import { audits } from "./audits.js";
import { compare } from "./compare.js";
import { job } from "./job.js";
import { jobs } from "./jobs.js";
import { rollouts } from "./rollouts.js";
import { sandboxes } from "./sandboxes.js";
import { training } from "./training.js";

const main = document.querySelector("main");
const nav = document.querySelector("header nav");
const connection = document.querySelector("#connection");
const VIEWS = [
  { name: "jobs", title: "Jobs", show: jobs },
  { name: "training", title: "Training", show: training },
  { name: "sandboxes", title: "Sandboxes", show: sandboxes },
  { name: "audits", title: "Audits", show: audits },
];

let leaving = new AbortController();
let shown = null;

/** {view, of, parts, query} out of `#/jobs/job_1/runs/3?x=1`. */
function address() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { parts, query: new URLSearchParams(query) };
}

function decoded(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

function route() {
  const { parts, query } = address();
  const [name = "jobs", ...rest] = parts;
  // what stays on the page when only a part of the address changes: a job, while its runs are looked at
  const view = name === "jobs" && rest.length ? `jobs/${rest[0]}` : parts.join("/");
  if (shown && shown.view === view && shown.went) {
    shown.went(rest, query);
    return;
  }
  leaving.abort();
  leaving = new AbortController();
  shown = { view, went: null };
  connected(null);
  for (const link of nav.children) {
    if (link.dataset?.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute?.("aria-current");
  }
  if (api.wantsKeys && !api.key()) {
    askForKey();
    return;
  }
  const place = { main, parts: rest, query, signal: leaving.signal, connected };
  const made = name === "jobs" && rest.length ? job : name === "training" && rest[1] === "rollouts" ? rollouts
    : name === "compare" ? compare : (VIEWS.find((one) => one.name === name) ?? VIEWS[0]).show;
  const mine = shown;
  document.title = `${name} · harena`;
  Promise.resolve(made(place)).then((went) => { mine.went = went ?? null; }).catch((error) => {
    if (place.signal.aborted || error.name === "AbortError") return;
    failed(error);
  });
}

function failed(error) {
  fill(main, el("h1", "This could not be shown"), el("p.problem", said(error.message, 2000)),
    el("p", el("a", { href: "#/jobs" }, "To the jobs")));
  if (!(error instanceof api.Problem)) console.error(error);
}

/** Say that the server does not answer, or that it does again. */
function connected(problem) {
  connection.textContent = problem ? problem.message : "";
  connection.title = problem ? problem.message : "";
}

function askForKey(refused = null) {
  const input = el("input", { type: "password", autocomplete: "off", spellcheck: false, placeholder: "hk_…", "aria-label": "API key" });
  const enter = (event) => {
    event.preventDefault();
    const given = input.value.trim();
    if (!/^[\x21-\x7e]+$/.test(given)) return askForKey("this is no API key: it has letters, digits and signs only");
    api.keepKey(given);
    shown = null;
    drawNav();
    route();
  };
  fill(main, el("form.form.sheet", { onsubmit: enter }, el("h1", "This server wants an API key"),
    el("p", "Paste one that `harena keys create` has printed. It is kept for this tab only, and goes nowhere but to this server."),
    refused ? el("p.problem", { role: "alert" }, said(refused, 500)) : null, input, el("button", { type: "submit" }, "Look")));
  input.focus();
}

function drawNav() {
  fill(nav, VIEWS.map((view) => el("a", { href: `#/${view.name}`, "data-view": view.name }, view.title)),
    el("a", { href: "docs" }, "API"),
    api.wantsKeys && api.key() ? el("a", { href: "#/jobs", onclick: () => { api.forgetKey(); shown = null; drawNav(); } }, "forget key") : null);
}

window.addEventListener("harena-key-refused", (event) => {
  leaving.abort();
  api.forgetKey();
  shown = null;
  drawNav();
  askForKey(event.detail);
});

const THEMES = ["", "dark", "light"];
const theme = document.querySelector("#theme");

function dress(next) {
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem("harena-theme", next);
  theme.title = `${next || "as the system has it"} (t)`;
  window.dispatchEvent(new Event("harena-theme"));
}
theme.addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? "";
  dress(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => window.dispatchEvent(new Event("harena-theme")));
dress(THEMES.includes(localStorage.getItem("harena-theme")) ? localStorage.getItem("harena-theme") : "");

const KEYS = [
  ["g j", "jobs"], ["g t", "training"], ["g s", "sandboxes"], ["g a", "audits"],
  ["/", "search in this view"], ["↓ ↑ j k", "next and previous row"], ["Enter", "open the row or the cell"],
  ["← →", "next and previous cell of a heat map"], ["Esc", "close what is open"], ["t", "dark or light"], ["?", "these keys"],
];
const help = el("dialog", { "aria-label": "Keys" }, el("h2", "Keys"),
  el("dl", KEYS.map(([keys, does]) => [el("dt", keys.split(" ").map((one) => [el("kbd", one), " "])), el("dd", does)])),
  el("form", { method: "dialog" }, el("button", "Close")));
document.querySelector("#keys-help").replaceWith(help);

let first = "";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const writing = event.target.closest("input, select, textarea");
  if (event.key === "Escape") {
    if (writing) event.target.blur();
    else if (!help.open) window.dispatchEvent(new Event("harena-escape"));
    return;
  }
  if (writing || help.open) return;
  const pair = first + event.key;
  first = "";
  const view = { gj: "jobs", gt: "training", gs: "sandboxes", ga: "audits" }[pair];
  if (view) location.hash = `#/${view}`;
  else if (event.key === "g") first = "g";
  else if (event.key === "t") theme.click();
  else if (event.key === "?") help.showModal();
  else if (event.key === "/") main.querySelector("input[type=search]")?.focus();
  else if (["j", "k", "ArrowDown", "ArrowUp"].includes(event.key) && document.activeElement === document.body) {
    main.querySelector(".rows .body")?.focus();
  } else return;
  event.preventDefault();
});

drawNav();
window.addEventListener("hashchange", route);
route();
