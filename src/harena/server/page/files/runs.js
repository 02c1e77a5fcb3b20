// The results of a job: all that there are, page by page, and what comes while it runs.
import { follow, get, part } from "./api.js";

const PAGE = 1000;
/** Most runs of one job that the page holds. */
export const MOST_RUNS = 100_000;
const BEHIND_SECONDS = 1;
/** Events that are read once more: those before the job was asked for tell what runs now. */
const EVENTS_BEFORE = 2000;
/** Characters of metadata that are kept, of all runs together: a scenario's author may have written a megabyte each. */
const MOST_METADATA = 64 << 20;
const LEFT_OUT = { "left out": "the page holds no more metadata; the API has it" };

/** Load all results of a job: `runs[number]`; `changed()` after each page. The cursor behind the last one. */
export async function loadRuns(job, runs, changed, signal, after = 0) {
  let metadata = 0;
  for (;;) {
    const page = await get(`v1/benchmark_jobs/${part(job)}/results/page`, { after, limit: after ? PAGE : 200 }, signal);
    for (const run of page.runs) {
      if (run.run >= MOST_RUNS) continue;
      metadata += JSON.stringify(run.metadata ?? {}).length;
      runs[run.run] = metadata > MOST_METADATA ? { ...run, metadata: LEFT_OUT } : run;
    }
    if (page.runs.length) changed();
    if (!page.runs.length || page.cursor === after) return after;
    after = page.cursor;
  }
}

/** Keep `runs` as the job is: what has ended, then each event as it comes. Returns at the job's end. */
export async function liveRuns(job, runs, { signal, changed, lost }) {
  let after = 0;
  let behind = false;
  let reading = null;
  // what events tell of a run is its verdict; the rest of its envelope is read in pages, behind them
  const read = async () => {
    behind = false;
    after = await loadRuns(job.id, runs, changed, signal, after);
  };
  const following = job.ended_at ? null : follow(`v1/benchmark_jobs/${part(job.id)}/events`, Math.max(0, job.cursor - EVENTS_BEFORE), (kind, event) => {
    if (event.run === null || event.run === undefined || event.run >= MOST_RUNS) {
      if (kind.startsWith("job_")) changed();
      return;
    }
    const of = { run: event.run, scenario_id: event.scenario_id, attempt: event.attempt };
    const whole = runs[event.run]?.evidence !== undefined;
    if (kind === "run_started") { if (!whole) runs[event.run] = { ...of, state: "running" }; }
    else if (kind === "run_finished") {
      if (!whole) runs[event.run] = { ...of, score: event.score, passed: event.passed, validity: event.validity, reason: event.reason, duration_seconds: event.duration_seconds };
      behind = true;
    } else if (["run_retried", "run_requeued"].includes(kind)) { if (!whole) runs[event.run] = { ...of, state: "queued" }; }
    else if (kind === "run_cancelled") runs[event.run] = { ...of, state: "cancelled" };
    changed();
  }, { signal, lost });
  await read();
  if (!following) return;
  const timer = setInterval(() => {
    if (behind && !reading) reading = read().catch(() => { behind = true; }).finally(() => { reading = null; });
  }, BEHIND_SECONDS * 1000);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  try {
    await following;
  } finally {
    clearInterval(timer);
  }
  if (!signal.aborted) { await reading; await read(); }
}
