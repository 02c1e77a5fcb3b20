// A heat map: a cell for each run of a job, the attempts of a scenario beside one another. Few scenarios are rows with
// their names; many are strips that fill the width, so that ten thousand runs are seen at once.
import { el, framed, said, styled, visible } from "./dom.js";
import { number } from "./words.js";

const STATES = ["passed", "partial", "failed", "suspect", "infra", "invalid", "running", "queued", "cancelled"];
const NAMED = 48;
/** Most scenarios whose names are shown. */

/** The colour's name of a run: its verdict, or where it is. */
export function stateOf(run) {
  if (!run) return "queued";
  if (run.state) return run.state;
  if (run.validity === "suspect") return "suspect";
  if (run.validity !== "valid") return run.reason === "cancelled" ? "cancelled" : run.validity;
  if (run.passed) return "passed";
  return run.score > 0 ? "partial" : "failed";
}

/** `runs` is a list in which a run's number is its place; holes wait. */
export function heat({ open, label }) {
  let waiting = "queued";
  let runs = [];
  let total = 0;
  let attempts = 1;
  let at = -1;
  let chosen = -1;
  let grid = null;
  const canvas = el("canvas", { tabindex: "0", role: "img", "aria-label": label, onkeydown: pressed });
  const under = el("div.under.note", { role: "status", "aria-live": "polite" });
  const key = el("div.legend");
  const scroll = el("div.scroll", canvas);
  const element = el("div.heat", key, scroll, under);
  const redraw = framed(draw);
  new ResizeObserver(redraw).observe(element);

  canvas.addEventListener("mousemove", (event) => point(place(event)));
  canvas.addEventListener("mouseleave", () => point(-1));
  canvas.addEventListener("click", (event) => {
    const found = place(event);
    if (found >= 0 && runs[found]) open(runs[found]);
  });

  function lay() {
    const width = Math.max(120, scroll.clientWidth);
    const scenarios = Math.ceil(total / attempts);
    if (scenarios <= NAMED && attempts > 1) {
      const names = Math.min(width * 0.35, 220);
      const cell = Math.max(3, Math.min(44, (width - names) / attempts));
      return { width, names, cell, high: 20, gap: 0, each: 1, lines: scenarios };
    }
    const room = total > 4000 ? 8 : total > 600 ? 12 : 20;
    const cell = Math.max(2, Math.min(room, (width - 4) / attempts));
    const gap = attempts > 1 ? 4 : 0;
    const each = Math.max(1, Math.floor((width + gap) / (attempts * cell + gap)));
    return { width, names: 0, cell, high: Math.max(cell, 4), gap, each, lines: Math.ceil(scenarios / each) };
  }

  function draw() {
    if (!element.isConnected) return;
    grid = lay();
    const scale = window.devicePixelRatio || 1;
    const height = Math.max(grid.high, grid.lines * grid.high + (grid.gap && !grid.names ? grid.lines * 2 : 0));
    const high = Math.min(height, 30_000 / scale);  // the most that a canvas holds
    canvas.width = Math.round(grid.width * scale);
    canvas.height = Math.round(high * scale);
    canvas.style.setProperty("height", `${high}px`);
    const paint = canvas.getContext("2d");
    paint.scale(scale, scale);
    const colours = Object.fromEntries(STATES.map((state) => [state, coloured(`--${state}`)]));
    const counts = {};
    const inset = grid.cell > 5 ? 1 : 0;
    for (let run = 0; run < total; run++) {
      const state = stateOf(runs[run]);
      counts[state] = (counts[state] ?? 0) + 1;
      const [x, y] = corner(run);
      if (y > high) continue;
      paint.fillStyle = colours[state];
      paint.fillRect(x, y, grid.cell - inset, grid.high - inset);
      if (state === "infra" || state === "invalid") {  // told from the others without colour, too
        paint.clearRect(x + grid.cell / 2 - 1, y + grid.high / 2 - 1, 2, 2);
      }
    }
    if (grid.names) names(paint);
    for (const run of new Set([chosen, at])) {
      if (run < 0 || run >= total) continue;
      const [x, y] = corner(run);
      paint.strokeStyle = coloured("--ink");
      paint.lineWidth = 2;
      paint.strokeRect(x, y, grid.cell - inset, grid.high - inset);
    }
    key.replaceChildren(...STATES.filter((state) => counts[state]).map((state) => {
      const dot = el("i");
      dot.style.setProperty("background", `var(--${state})`);
      return el("span", dot, `${state === "queued" ? waiting : state} ${number(counts[state])}`);
    }));
  }

  function names(paint) {
    paint.fillStyle = coloured("--ink");
    paint.font = "12px system-ui, sans-serif";
    paint.textBaseline = "middle";
    paint.direction = "ltr";
    for (let line = 0; line < grid.lines; line++) {
      const run = runs.slice(line * attempts, (line + 1) * attempts).find((one) => one?.scenario_id);
      if (!run) continue;
      let name = visible(run.scenario_id.slice(0, 60));
      while (name.length > 4 && paint.measureText(name).width > grid.names - 10) name = `${name.slice(0, -2)}…`.replace("……", "…");
      paint.fillText(name, 0, line * grid.high + grid.high / 2);
    }
  }

  function corner(run) {
    const scenario = Math.floor(run / attempts);
    const line = Math.floor(scenario / grid.each);
    const strip = scenario % grid.each;
    const between = grid.gap && !grid.names ? 2 : 0;
    return [grid.names + strip * (attempts * grid.cell + grid.gap) + (run % attempts) * grid.cell, line * (grid.high + between)];
  }

  function place(event) {
    if (!grid) return -1;
    const between = grid.gap && !grid.names ? 2 : 0;
    const line = Math.floor(event.offsetY / (grid.high + between));
    const x = event.offsetX - grid.names;
    const wide = attempts * grid.cell + grid.gap;
    const strip = Math.floor(x / wide);
    const attempt = Math.floor((x - strip * wide) / grid.cell);
    if (x < 0 || strip >= grid.each || attempt >= attempts) return -1;
    const run = (line * grid.each + strip) * attempts + attempt;
    return run < total ? run : -1;
  }

  function point(run) {
    if (run === at) return;
    at = run;
    under.replaceChildren(...(run < 0 ? [] : told(run)));
    redraw();
  }

  function told(run) {
    const found = runs[run];
    if (!found?.scenario_id) return [`run ${run}: ${found ? stateOf(found) : waiting}`];
    return [said(found.scenario_id, 80), ` · attempt ${found.attempt} · `,
      found.reason ? `${stateOf(found)} (${found.reason})` : stateOf(found),
      found.score === null || found.score === undefined ? "" : ` · score ${number(found.score)}`];
  }

  function pressed(event) {
    if (!grid) return;
    const line = grid.each * attempts;
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: line, ArrowUp: -line, Home: -total, End: total };
    if (event.key in steps) {
      point(Math.max(0, Math.min(total - 1, Math.max(at, 0) + steps[event.key])));
      const [, y] = corner(at);
      if (y < scroll.scrollTop) scroll.scrollTop = y;
      if (y + grid.high > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = y + grid.high - scroll.clientHeight;
    } else if (event.key === "Enter" && runs[at]) open(runs[at]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return {
    element,
    /** Show these runs; `total` of them are expected, `each` attempts of a scenario. `word`: what those wait for that
     *  are not there. */
    set(next, expected, each, word) {
      [runs, total, attempts, waiting] = [next, expected, Math.max(1, each), word];
      redraw();
    },
    /** Mark the run that is looked at; -1 = none. */
    choose(run) { chosen = run; redraw(); },
    redraw,
  };
}

/** What a canvas can paint: a colour of the style sheet as this theme has it. */
export function coloured(name) {
  const probe = el("span", { hidden: true });
  probe.style.setProperty("color", `var(${name})`);
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour || styled(name);
}
