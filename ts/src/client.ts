// `Harena`: a client of one server.
import { BenchmarkJobs, type RunResult, type ScoreOptions } from './benchmark-jobs.js';
import { Blueprints } from './blueprints.js';
import { type Abortable, type Answer, Calls } from './calls.js';
import { type Contract, Scenarios, ScoringContracts } from './catalog.js';
import { Connection } from './connection.js';
import { Lease } from './lease.js';
import { Objects } from './objects.js';
import { idOf, Sandboxes } from './sandboxes.js';
import { TrainingJobs } from './training-jobs.js';

const DEFAULT_BASE_URL = 'http://127.0.0.1:8642';

export interface HarenaOptions {
  /** Where `harena serve` listens. `HARENA_BASE_URL` where nothing is said, else http://127.0.0.1:8642. */
  baseUrl?: string;
  /** `HARENA_API_KEY` where nothing is said. */
  apiKey?: string;
}

/** Whether the server takes requests, and its version. */
export type ServerHealth = Answer<'health_healthz'>;

/**
 * A client of one server. Its sandboxes end when it is closed (`close`, or `await using`), and within a minute when its
 * process goes away; jobs go on.
 */
export class Harena implements AsyncDisposable {
  readonly sandboxes: Sandboxes;
  readonly blueprints: Blueprints;
  readonly scenarios: Scenarios;
  readonly scoringContracts: ScoringContracts;
  readonly benchmarkJobs: BenchmarkJobs;
  readonly trainingJobs: TrainingJobs;
  readonly objects: Objects;
  /** Where its server is. */
  readonly baseUrl: string;
  readonly #calls: Calls;
  readonly #lease: Lease;

  constructor(options: HarenaOptions = {}) {
    const baseUrl = options.baseUrl || process.env['HARENA_BASE_URL'] || DEFAULT_BASE_URL;
    const connection = new Connection(baseUrl, options.apiKey || process.env['HARENA_API_KEY']);
    const calls = new Calls(connection);
    this.baseUrl = connection.baseUrl;
    this.#calls = calls;
    this.#lease = new Lease(calls);
    this.sandboxes = new Sandboxes(calls, this.#lease);
    this.blueprints = new Blueprints(calls);
    this.scenarios = new Scenarios(calls);
    this.scoringContracts = new ScoringContracts(calls);
    this.benchmarkJobs = new BenchmarkJobs(calls);
    this.trainingJobs = new TrainingJobs(calls);
    this.objects = new Objects(calls);
  }

  /**
   * Run `candidate` in a fresh sandbox and score it against the contract `scoring`, without a job. Nothing is stored.
   * `candidate` is a program's text, or what scenario files may hold there.
   */
  async score(
    candidate: string | Record<string, unknown>,
    scoring: Contract,
    options: ScoreOptions = {},
  ): Promise<RunResult> {
    const { blueprintId, scenario, signal, ...rest } = options;
    return await this.#calls.call('scores_score', {
      body: {
        scenario: { id: 'candidate', ...scenario, candidate, scoring },
        ...rest,
        ...(blueprintId === undefined ? {} : { blueprintId: idOf(blueprintId) }),
      },
      signal,
    });
  }

  /** Whether the server takes requests. Needs no key. */
  async health(options: Abortable = {}): Promise<ServerHealth> {
    return await this.#calls.call('health_healthz', options);
  }

  /** End this client's sandboxes and its connections. May be called more than once. */
  async close(): Promise<void> {
    try {
      await this.#lease.close();
    } finally {
      this.#calls.connection.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
