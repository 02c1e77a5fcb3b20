// Requests to this server's /v1, as any client makes them: with the key that the user pasted, which is kept for this
// tab only.

const BASE = new URL("./", document.baseURI);
const KEY = "harena-key";

export const wantsKeys = document.querySelector("meta[name=harena-keys]")?.content === "yes";

export function key() { return sessionStorage.getItem(KEY); }
export function keepKey(value) { sessionStorage.setItem(KEY, value); }
export function forgetKey() { sessionStorage.removeItem(KEY); }

/** What the server refused, or that it could not be reached. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

function headers(more = {}) {
  const made = { accept: "application/json", ...more };
  if (key()) made.authorization = `Bearer ${key()}`;
  return made;
}

async function request(method, path, { query = {}, body = null, signal = null, accept = null } = {}) {
  const address = new URL(path.replace(/^\//, ""), BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) address.searchParams.append(name, String(value));
  }
  let answer;
  try {
    answer = await fetch(address, {
      method,
      headers: headers({ ...(body === null ? {} : { "content-type": "application/json" }), ...(accept ? { accept } : {}) }),
      body: body === null ? null : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, `the server cannot be reached (${error.message})`);
  }
  if (answer.ok) return answer;
  let detail = `the server answered ${answer.status}`;
  try {
    detail = (await answer.json()).detail ?? detail;
  } catch { /* an answer without a problem, from something between */ }
  if (answer.status === 401) window.dispatchEvent(new CustomEvent("harena-key-refused", { detail }));
  throw new Problem(answer.status, detail);
}

export async function get(path, query = {}, signal = null) {
  return (await request("GET", path, { query, signal })).json();
}

export async function post(path, body = {}, signal = null) {
  return (await request("POST", path, { body, signal })).json();
}

/** A file's content as text, at most so many bytes of it. */
export async function text(path, query = {}, { most = 64 << 20, signal = null } = {}) {
  const answer = await request("GET", path, { query, signal, accept: "*/*" });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const pieces = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    length += value.length;
    if (length > most) { await reader.cancel(); break; }
  }
  return pieces.join("");
}

/** One part of an address, of anything that somebody named. */
export function part(name) {
  return encodeURIComponent(name);
}

const AGAIN_SECONDS = [0.5, 1, 2, 5];

/** Call `heard(kind, event)` for each event of a job after the cursor, until its end or the signal; a stream that breaks
 *  off is asked for again from the last cursor, and `lost(problem or null)` says how it stands. */
export async function follow(path, after, heard, { signal, lost = () => {} }) {
  let cursor = after;
  let failures = 0;
  while (!signal.aborted) {
    // a browser has six connections to a server, for all tabs together: one that nobody looks at gives its own back
    await looked(signal);
    const leaving = new AbortController();
    const leave = () => { if (document.hidden) leaving.abort(); };
    document.addEventListener("visibilitychange", leave);
    try {
      const here = AbortSignal.any([signal, leaving.signal]);
      const answer = await request("GET", path, { query: { after: cursor }, signal: here, accept: "text/event-stream" });
      lost(null);
      failures = 0;
      const ended = await events(answer, (kind, event) => {
        if (event.cursor) cursor = event.cursor;
        heard(kind, event);
      });
      if (ended) return;
    } catch (error) {
      if (signal.aborted) return;
      if (leaving.signal.aborted) continue;
      if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
      lost(error);
    } finally {
      document.removeEventListener("visibilitychange", leave);
    }
    await pause(AGAIN_SECONDS[Math.min(failures++, AGAIN_SECONDS.length - 1)], signal);
  }
}

function looked(signal) {
  return new Promise((done) => {
    if (!document.hidden) return done();
    const look = new AbortController();
    const end = () => { look.abort(); done(); };
    document.addEventListener("visibilitychange", () => { if (!document.hidden) end(); }, { signal: look.signal });
    signal.addEventListener("abort", end, { once: true });
  });
}

async function events(answer, heard) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    rest += value;
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      let kind = "message";
      let data = "";
      for (const line of lines) {
        if (line.startsWith("event: ")) kind = line.slice(7);
        else if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (kind === "end") return true;
      if (kind === "problem") {
        const problem = JSON.parse(data);
        throw new Problem(problem.status ?? 500, problem.detail ?? "the stream of events ended");
      }
      if (data) heard(kind, JSON.parse(data));
    }
  }
}

export function pause(time, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, time * 1000);
    signal?.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
  });
}

/** Ask again and again, while the tab is looked at, until the signal. A failed try is told to `failed`, and the next one
 *  comes later. */
export async function watch(ask, { signal, every = 0.7, failed }) {
  let failures = 0;
  while (!signal.aborted) {
    if (!document.hidden) {
      try {
        await ask();
        failures = 0;
        failed(null);
      } catch (error) {
        if (signal.aborted || error.name === "AbortError") return;
        failures += 1;
        failed(error);
        if (error instanceof Problem && [401, 403].includes(error.status)) return;
      }
    }
    await pause(Math.min(every * 2 ** failures, 10), signal);
  }
}
