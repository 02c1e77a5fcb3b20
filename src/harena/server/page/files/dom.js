// Elements out of texts. Names, candidates, outputs and errors are written by programs: they become text nodes, never
// markup, and what could make a reader see another text than there is (control characters, changes of direction) is
// made visible.

/** Make an element: `el("a.link", {href: "#/"}, "text", child)`. Texts become text nodes. */
export function el(name, ...parts) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag || "div");
  if (classes.length) made.className = classes.join(" ");
  for (const part of parts.flat(Infinity)) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node) made.append(part);
    else if (typeof part === "object") give(made, part);
    else made.append(String(part));
  }
  return made;
}

function give(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean" && name in made) made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
}

const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff]/g;

/** What a text says, with what cannot be seen shown: NUL as ␀, a change of direction as its code. */
export function visible(text) {
  return String(text)
    .replace(DIRECTIONS, (one) => `⟨${one.codePointAt(0).toString(16)}⟩`)
    .replace(CONTROLS, (one) => {
      const code = one.codePointAt(0);
      return code < 32 ? String.fromCodePoint(0x2400 + code) : `⟨${code.toString(16)}⟩`;
    });
}

export const MOST_NAME = 200;
/** Most characters of a text that are laid out at once; the rest is shown on request. */
export const MOST_TEXT = 20_000;

/** A short foreign text, such as a name: one line, cut. */
export function said(text, most = MOST_NAME) {
  const whole = String(text ?? "");
  const cut = whole.length > most ? `${whole.slice(0, most)}…` : whole;
  return el("bdi", visible(cut.replace(/\s+/g, " ")), whole.length > most ? { title: `${whole.length} characters` } : null);
}

/** A long foreign text, such as a program: its lines as they are, so much of it at once as a browser lays out quickly. */
export function block(text, { label = null } = {}) {
  const whole = String(text ?? "");
  const body = el("pre.foreign", { tabindex: "0", dir: "auto", "aria-label": label ?? "text" });
  let shown = 0;
  const more = el("button.more", { type: "button", onclick: () => show() });
  function show() {
    const next = whole.slice(shown, shown + MOST_TEXT);
    shown += next.length;
    body.append(visible(next));
    more.hidden = shown >= whole.length;
    more.textContent = `${whole.length - shown} more characters: show ${Math.min(MOST_TEXT, whole.length - shown)}`;
  }
  show();
  return el("div.block", label ? el("h3", label) : null, body, more);
}

/** JSON of any depth, indented. */
export function json(value, label = null) {
  return block(JSON.stringify(value, null, 2), { label });
}

/** Name and value pairs; values are texts or elements. */
export function pairs(entries) {
  return el("dl", entries.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [el("dt", name), el("dd", value instanceof Node ? value : said(value))]));
}

/** Replace what an element holds. */
export function fill(element, ...parts) {
  element.replaceChildren(...parts.flat(Infinity).filter((part) => part !== null && part !== undefined && part !== false)
    .map((part) => part instanceof Node ? part : String(part)));
}

/** Call `draw` once before the next frame, however often it is asked for. */
export function framed(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}

/** The value of a colour or size that the style sheet names. */
export function styled(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
