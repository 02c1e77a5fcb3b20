// Benchmark jobs: many scenarios, each run and scored in its own sandbox.
import type { Abortable, Answer, Body, Calls } from './calls.js';
import { NotFoundError } from './errors.js';
import { follow } from './events.js';
import type { components } from './generated/schema.js';
import { writeJson } from './json.js';
import { type Camel, sent } from './naming.js';
import { Listing, type ListOptions } from './pages.js';
import { idOf } from './sandboxes.js';
import { type Lines, readInput, type ScenarioInput } from './scenario-input.js';

/** A job, as it was when it was asked for. */
export type BenchmarkJob = Answer<'benchmark_jobs_get'>;
/** One scenario's run: `scenarioId`, `score`, `passed`, `validity`, `reason` ... */
export type BenchmarkRun = Answer<'benchmark_jobs_results'>['runs'][number];
/** The runs in the order of their numbers, and what they are together. */
export type BenchmarkResults = Answer<'benchmark_jobs_results'>;
/** Runs in the order in which they ended; `cursor` asks for those that end later. */
export type ResultsPage = Answer<'benchmark_jobs_results_page'>;
/** The results without their runs. */
export type JobSummary = Answer<'benchmark_jobs_summary'>;
/** Something that happened to a job; `cursor` grows. */
export type BenchmarkEvent = Camel<components['schemas']['BenchmarkEvent']>;
/** Concurrency, time-outs, retries ... */
export type JobConfig = Camel<components['schemas']['JobConfig']>;

/** What a job is made of. */
export interface BenchmarkJobOptions extends Abortable {
  name: string;
  scenarios: ScenarioInput;
  /** Answers to a data set of problems; `oracle`: its own solutions, `nop`: answers that do nothing. */
  candidates?: ScenarioInput | 'oracle' | 'nop';
  /** Format of the data set, where its shape does not tell. */
  format?: string;
  /** Grader of rows that hold none. */
  grader?: Record<string, unknown>;
  /** A blueprint, its name or its id. */
  blueprintId?: string | { id: string };
  config?: JobConfig;
  /** A URL that is posted to when the job has ended, signed if there is a secret. */
  webhook?: { url: string; secret?: string | null };
  /** The same key with the same request gives the job that is there. */
  idempotencyKey?: string;
}

const LINES = 'application/x-ndjson';
const MOST_ON_A_PAGE = 1000;

/** The benchmark jobs of your workspace. */
export class BenchmarkJobs {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Check everything, then start a job. Throws a ValidationError that lists every mistake, before anything runs. */
  async create(options: BenchmarkJobOptions): Promise<BenchmarkJob> {
    const { scenarios, candidates, blueprintId, idempotencyKey, signal, ...rest } = options;
    const content = sent(rest, 'JobBody') as Record<string, unknown>;
    if (blueprintId !== undefined) content['blueprint_id'] = idOf(blueprintId);
    const given = await readInput(scenarios, 'scenarios');
    if (candidates === 'oracle' || candidates === 'nop') content['candidates'] = candidates;
    const answers = candidates === undefined || candidates === content['candidates'] ? undefined : await readInput(candidates, 'candidates');
    const lines: Lines[] = [];
    if ('lines' in given) {
      content['scenarios'] = given.lines.fileName === undefined ? null : { file_name: given.lines.fileName };
      if (answers !== undefined && 'lines' in answers) {
        const { count, fileName } = answers.lines;
        content['candidates'] = { lines: count, ...(fileName === undefined ? {} : { file_name: fileName }) };
        lines.push(answers.lines);
      }
      lines.push(given.lines);
    } else {
      content['scenarios'] = given.content;
    }
    if (answers !== undefined && content['candidates'] === undefined) {
      content['candidates'] = 'lines' in answers ? await parsed(answers.lines) : answers.content;
    }
    const head = Buffer.from(`${writeJson(content, 'request')}\n`);
    const body = async function* (): AsyncGenerator<Uint8Array> {
      yield head;
      for (const each of lines) yield* each.pieces();
    };
    return await this.#calls.call('benchmark_jobs_create', {
      bytes: lines.length > 0 ? body : head,
      contentType: lines.length > 0 ? LINES : 'application/json',
      idempotencyKey,
      signal,
    });
  }

  /** The job with this id or name (the newest of that name), as it is now. Throws NotFoundError. */
  async get(job: string | { id: string }, options: Abortable = {}): Promise<BenchmarkJob> {
    return await this.#calls.call('benchmark_jobs_get', { path: await this.#path(job, options), ...options });
  }

  /** The jobs, newest first. */
  list(options: ListOptions & { name?: string } = {}): Listing<BenchmarkJob> {
    const { name, limit, signal } = options;
    return new Listing(async (cursor, size) => {
      const query = { name, limit: size, cursor: cursor as number | undefined };
      const page = await this.#calls.call('benchmark_jobs_list_jobs', { query, signal });
      return { items: page.benchmarkJobs, nextCursor: page.nextCursor };
    }, limit);
  }

  /**
   * The results, when the job has ended. A server that goes away meanwhile is asked again for ten minutes: its jobs
   * outlive it. `signal: AbortSignal.timeout(60_000)` waits for a minute; the job goes on.
   */
  async wait(job: string | { id: string }, options: Abortable = {}): Promise<BenchmarkResults> {
    const waiting = (id: string): Promise<BenchmarkJob> =>
      this.#calls.call('benchmark_jobs_get', { path: { job: id }, query: { waitSeconds: 30 }, ...options });
    const ended = await this.#calls.ended(() => this.get(job, options), waiting, (found) => found.endedAt !== null, options.signal);
    return await this.#calls.patiently(() => this.results(ended.id, options), options.signal);
  }

  /** The results so far, in the order of the scenarios. For jobs of any size there are `runs` and `resultsPages`. */
  async results(job: string | { id: string }, options: Abortable = {}): Promise<BenchmarkResults> {
    const found = await this.#calls.call('benchmark_jobs_results', { path: await this.#path(job, options), ...options });
    found.runs.sort((a, b) => a.run - b.run);
    return found;
  }

  /** The results that there are now, a page at a time, from the first run that ended after cursor `after`. */
  async *resultsPages(
    job: string | { id: string },
    options: { after?: number } & Abortable = {},
  ): AsyncGenerator<ResultsPage, void, undefined> {
    const { signal } = options;
    let { after = 0 } = options;
    let path = await this.#path(job, options);
    for (;;) {
      const page = await this.#calls.call('benchmark_jobs_results_page', { path, query: { after, limit: MOST_ON_A_PAGE }, signal });
      if (page.runs.length === 0) return;
      yield page;
      after = page.cursor;
      path = { job: page.jobId }; // a job that is found by its name stays the same one
    }
  }

  /** The runs that have ended by now, one after the other. */
  async *runs(job: string | { id: string }, options: Abortable = {}): AsyncGenerator<BenchmarkRun, void, undefined> {
    for await (const page of this.resultsPages(job, options)) yield* page.runs;
  }

  /** The results so far without their runs. */
  async summary(job: string | { id: string }, options: Abortable = {}): Promise<JobSummary> {
    return await this.#calls.call('benchmark_jobs_summary', { path: await this.#path(job, options), ...options });
  }

  /** What happens to the job, from the first event after cursor `after` to its end; goes on where a connection ends. */
  async *events(
    job: string | { id: string },
    options: { after?: number } & Abortable = {},
  ): AsyncGenerator<BenchmarkEvent, void, undefined> {
    const path = await this.#path(job, options);
    yield* follow<BenchmarkEvent, 'benchmark_jobs_events'>(this.#calls, 'benchmark_jobs_events', path, 'BenchmarkEvent', options);
  }

  /** End the job and its running sandboxes. */
  async cancel(job: string | { id: string }, options: Abortable = {}): Promise<BenchmarkJob> {
    return await this.#calls.call('benchmark_jobs_cancel', { path: await this.#path(job, options), ...options });
  }

  /** Delete a job that has ended, with its results. */
  async delete(job: string | { id: string }, options: Abortable = {}): Promise<void> {
    await this.#calls.call('benchmark_jobs_delete', { path: await this.#path(job, options), ...options });
  }

  /** A name with a slash cannot be in a path: its newest job is looked for. */
  async #path(job: string | { id: string }, options: Abortable): Promise<{ job: string }> {
    const name = idOf(job);
    if (!name.includes('/')) return { job: name };
    for await (const found of this.list({ name, limit: 1, signal: options.signal })) return { job: found.id };
    throw new NotFoundError(`no benchmark job has the name ${JSON.stringify(name)} on this server`);
  }
}

async function parsed(lines: Lines): Promise<unknown[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of lines.pieces()) pieces.push(piece);
  const text = Buffer.concat(pieces).toString('utf8');
  return text.split('\n').filter((line) => line.trim()).map((line) => JSON.parse(line) as unknown);
}

/** What is scored at once. */
export interface ScoreOptions extends Abortable {
  /** A blueprint, its name or its id. */
  blueprintId?: string | { id: string };
  timeoutSeconds?: number;
  /** Tries after failures of the platform. */
  retryAttempts?: number;
  requireTrust?: Body<'scores_score'>['requireTrust'];
  /** Further fields of a scenario: id, limits, metadata. */
  scenario?: Record<string, unknown>;
}

/** The verdict on one candidate. `score` is null with validity `infra` where the platform failed. */
export type RunResult = Answer<'scores_score'>;
