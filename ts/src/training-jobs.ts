// Training jobs: models that learn, by SFT or by RL from what their programs do in sandboxes.
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, parse, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { Abortable, Answer, Body, Calls } from './calls.js';
import { NotFoundError, PlatformError, ValidationError } from './errors.js';
import { follow } from './events.js';
import type { components } from './generated/schema.js';
import { mergeMetrics, type Metrics } from './metrics.js';
import type { Camel } from './naming.js';
import type { ObjectKind } from './objects.js';
import { Listing, type ListOptions } from './pages.js';
import { idOf } from './sandboxes.js';
import { digestOf, filesOf, packed } from './tar.js';

type Schemas = components['schemas'];

/** What a job is asked with: `trainerType` (`sft` or `rl`), `model`, `config` ... */
export type TrainingRequest = Camel<Schemas['SFTRequest'] | Schemas['RLRequest']>;
/** What an SFT job is configured with. */
export type SFTConfig = Camel<Schemas['SFTConfig']>;
/** What an RL job is configured with. */
export type RLConfig = Camel<Schemas['RLConfig']>;
/** A job, as it was when it was asked for. */
export type TrainingJob = Omit<Answer<'training_jobs_get'>, 'config'> & { config: Partial<SFTConfig & RLConfig> | null };
/** Something that happened to a job; `cursor` grows. */
export type TrainingEvent = Camel<Schemas['TrainingEvent']>;
export type TrainingLog = Camel<Schemas['TrainingLog']>;
export type TrainingMetrics = Answer<'training_jobs_metrics'>;
export type TrainingArtifacts = Answer<'training_jobs_artifacts'>;

const DATASETS = ['datasetRef', 'promptDatasetRef', 'evalDatasetRef'] as const;

/** The training jobs of your workspace. */
export class TrainingJobs {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Check everything, then accept a job, which begins when it is its turn. Where a model or a data set is a path
   * (`./model`, `prompts.jsonl`), what lies there on this machine is published first, by its content. Throws a
   * ValidationError that lists every mistake.
   */
  async create(request: TrainingRequest, options: { idempotencyKey?: string } & Abortable = {}): Promise<TrainingJob> {
    const body = (await this.#withSentFiles(request, options.signal)) as unknown as Body<'training_jobs_create'>;
    return (await this.#calls.call('training_jobs_create', { body, ...options }));
  }

  /** The job with this id or name (the newest of that name), as it is now. Throws NotFoundError. */
  async get(job: string | { id: string }, options: Abortable = {}): Promise<TrainingJob> {
    return (await this.#calls.call('training_jobs_get', { path: await this.#path(job, options), ...options }));
  }

  /** The jobs, newest first. */
  list(options: ListOptions & { name?: string; state?: TrainingJob['state']; trainerType?: 'sft' | 'rl' } = {}): Listing<TrainingJob> {
    const { limit, signal, ...asked } = options;
    return new Listing(async (cursor, size) => {
      const query = { ...asked, limit: size, cursor: cursor as number | undefined };
      const page = await this.#calls.call('training_jobs_list_jobs', { query: query as never, signal });
      return { items: page.trainingJobs, nextCursor: page.nextCursor };
    }, limit);
  }

  /** The job, when it has ended, however it did. */
  async wait(job: string | { id: string }, options: Abortable = {}): Promise<TrainingJob> {
    const waiting = async (id: string): Promise<TrainingJob> =>
      (await this.#calls.call('training_jobs_get', { path: { job: id }, query: { waitSeconds: 30 }, ...options }));
    return await this.#calls.ended(() => this.get(job, options), waiting, (found) => found.endedAt !== null, options.signal);
  }

  /** What happens to the job, from the first event after cursor `after` to its end; goes on where a connection ends. */
  async *events(
    job: string | { id: string },
    options: { after?: number } & Abortable = {},
  ): AsyncGenerator<TrainingEvent, void, undefined> {
    const path = await this.#path(job, options);
    yield* follow<TrainingEvent, 'training_jobs_events'>(this.#calls, 'training_jobs_events', path, 'TrainingEvent', options);
  }

  /** What was said to people, from the first message after cursor `after` to the newest. */
  async *logs(job: string | { id: string }, options: { after?: number } & Abortable = {}): AsyncGenerator<TrainingLog, void, undefined> {
    let { after = 0 } = options;
    const path = await this.#path(job, options);
    for (;;) {
      const page = await this.#calls.call('training_jobs_logs', { path, query: { after, limit: 500 }, signal: options.signal });
      if (page.items.length === 0) return;
      yield* page.items;
      after = page.cursor;
    }
  }

  /**
   * What was measured so far: arrays along the axes `steps` and `eval/steps`, and scalars. With `earlier`, only what is
   * new since then is fetched, and added to it.
   */
  async metrics(job: string | { id: string }, options: { earlier?: TrainingMetrics } & Abortable = {}): Promise<TrainingMetrics> {
    const { earlier, signal } = options;
    const path = await this.#path(job, options);
    let metrics: Metrics = { ...earlier?.metrics };
    let cursor = earlier?.cursor ?? 0;
    for (;;) {
      const found = await this.#calls.call('training_jobs_metrics', { path, query: { after: cursor }, signal });
      if (found.anew) metrics = {};
      mergeMetrics(metrics, found.metrics);
      cursor = found.cursor;
      if (!found.more) return { ...found, metrics, cursor };
    }
  }

  /** What the job's present try has written so far: checkpoints, the exported model, sampled rollouts. */
  async artifacts(job: string | { id: string }, options: Abortable = {}): Promise<TrainingArtifacts> {
    return await this.#calls.call('training_jobs_artifacts', { path: await this.#path(job, options), ...options });
  }

  /** The content of one of its files, piece by piece. */
  async *file(job: string | { id: string }, path: string, options: Abortable = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const given = { path: await this.#path(job, options), query: { path }, ...options };
    const { response, asked } = await this.#calls.open('training_jobs_file', given);
    yield* this.#calls.connection.pieces(response, asked);
  }

  /** Fetch the job's files, or those whose path begins with `below` (`model/`), into a folder; where they are then. */
  async download(job: string | { id: string }, folder: string, options: { below?: string } & Abortable = {}): Promise<string[]> {
    const { below = '', signal } = options;
    const { id } = await this.get(job, { signal });
    const wanted = (await this.artifacts(id, { signal })).files.filter((file) => file.path.startsWith(below));
    if (wanted.length === 0) throw new ValidationError(`training job ${id} has no files that begin with ${JSON.stringify(below)} yet`);
    const places: string[] = [];
    for (const file of wanted) {
      const place = resolve(folder, file.path);
      if (relative(resolve(folder), place).split(sep)[0] === '..') {
        throw new PlatformError(`the server names a file ${JSON.stringify(file.path)}, which would lie outside ${folder}`);
      }
      await mkdir(dirname(place), { recursive: true });
      try {
        await pipeline(Readable.from(this.file(id, file.path, { signal }), { objectMode: false }), createWriteStream(`${place}.part`));
        await rename(`${place}.part`, place);
      } finally {
        await rm(`${place}.part`, { force: true });
      }
      places.push(place);
    }
    return places;
  }

  /** End the job, its worker and its sandboxes; what it had stays. */
  async cancel(job: string | { id: string }, options: Abortable = {}): Promise<TrainingJob> {
    return (await this.#calls.call('training_jobs_cancel', { path: await this.#path(job, options), ...options }));
  }

  /** Queue a job that has ended once more: from its newest `checkpoint`, or from `scratch`. */
  async retry(job: string | { id: string }, options: { start?: 'checkpoint' | 'scratch' } & Abortable = {}): Promise<TrainingJob> {
    const { start = 'checkpoint', signal } = options;
    const given = { path: await this.#path(job, options), body: { from: start }, signal };
    return (await this.#calls.call('training_jobs_retry', given));
  }

  /** Delete a job that has ended, with all that it wrote. */
  async delete(job: string | { id: string }, options: Abortable = {}): Promise<void> {
    await this.#calls.call('training_jobs_delete', { path: await this.#path(job, options), ...options });
  }

  async #path(job: string | { id: string }, options: Abortable): Promise<{ job: string }> {
    const name = idOf(job);
    if (!name.includes('/')) return { job: name };
    for await (const found of this.list({ name, limit: 1, signal: options.signal })) return { job: found.id };
    throw new NotFoundError(`no training job has the name ${JSON.stringify(name)} on this server`);
  }

  /** The request with published versions in place of paths of this machine. */
  async #withSentFiles(request: TrainingRequest, signal: AbortSignal | undefined): Promise<TrainingRequest> {
    const made = { ...request, config: { ...request.config } } as TrainingRequest;
    if (/^(\/|\.\.?\/|~)/.test(made.model)) made.model = (await this.#publish('model', made.model, signal)).join('@');
    const config = made.config as Record<string, unknown>;
    for (const field of DATASETS) {
      const source = config[field];
      if (typeof source === 'string' && source) config[field] = reference(await this.#publish('dataset', source, signal));
    }
    const trajectories = config['trajectoryDatasetRefs'];
    if (Array.isArray(trajectories)) {
      const sources: unknown[] = [];
      for (const source of trajectories as unknown[]) {
        sources.push(typeof source === 'string' && source ? reference(await this.#publish('dataset', source, signal)) : source);
      }
      config['trajectoryDatasetRefs'] = sources;
    }
    return made;
  }

  async #publish(kind: ObjectKind, path: string, signal: AbortSignal | undefined): Promise<[name: string, version: string]> {
    const files = await filesOf(path);
    const digest = await digestOf(files);
    const name = parse(resolve(path)).name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[._-]+/, '').slice(0, 100) || 'data';
    const version = `sha256-${digest.slice(0, 16)}`;
    try {
      await this.#calls.call('objects_get_object', { path: { kind, ref: `${name}@${version}` }, signal });
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      await this.#calls.call('objects_push_object', { query: { kind, name, version, digest }, bytes: () => packed(files), signal });
    }
    return [name, version];
  }
}

function reference([name, version]: [name: string, version: string]): { name: string; version: string } {
  return { name, version };
}
