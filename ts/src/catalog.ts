// Scenarios and scoring contracts that are kept by name and version.
import type { Abortable, Answer, Calls } from './calls.js';
import { Listing, type ListOptions } from './pages.js';
import { readContent, type ScenarioInput } from './scenario-input.js';

/** A stored batch of scenarios. */
export type StoredScenarios = Answer<'catalog_get_scenarios'>;
/** A stored scoring contract. */
export type ScoringContract = Answer<'catalog_get_contract'>;
/** A scoring contract as it is written in scenario files: `{ type: 'tests', entry_point: 'f', checks: [...] }`. */
export type Contract = Readonly<Record<string, unknown>>;

/** A version, by NAME@2 or by what `get` gives; a bare name is its newest version. */
export type Version = string | { ref: string };

/** What lists of versions take. */
export interface VersionListOptions extends ListOptions {
  /** Every version of this one, in place of the newest of each name. */
  name?: string;
  /** Names that begin so. */
  prefix?: string;
  /** Those that carry all of these. */
  metadata?: Record<string, string>;
  /** Also what is archived, every version. */
  archived?: boolean;
}

/** The scenarios of your workspace. */
export class Scenarios {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Check everything, then keep it as the next version of `name`; the same content gives the version that there is. */
  async create(
    name: string,
    scenarios: ScenarioInput,
    options: { format?: string; grader?: Record<string, unknown>; metadata?: Record<string, string> } & Abortable = {},
  ): Promise<StoredScenarios> {
    const { signal, ...rest } = options;
    const content = (await readContent(scenarios, 'scenarios')) as Record<string, unknown>;
    return await this.#calls.call('catalog_create_scenarios', { body: { name, scenarios: content, ...rest }, signal });
  }

  /** The version NAME@2, or the newest of NAME; with `content` what was stored. Throws NotFoundError. */
  async get(ref: Version, options: { content?: boolean } & Abortable = {}): Promise<StoredScenarios> {
    const { content, signal } = options;
    return await this.#calls.call('catalog_get_scenarios', { path: { ref: refOf(ref) }, query: { content }, signal });
  }

  /** Newest first. */
  list(options: VersionListOptions = {}): Listing<StoredScenarios> {
    const { limit, signal, ...asked } = options;
    return new Listing(async (cursor, size) => {
      const query = { ...matching(asked), limit: size, cursor: cursor as number | undefined };
      const page = await this.#calls.call('catalog_list_scenarios', { query, signal });
      return { items: page.scenarios, nextCursor: page.nextCursor };
    }, limit);
  }

  /** Hide a version, or with a bare name every version; how many were archived. Jobs that name one go on as before. */
  async archive(ref: Version, options: Abortable = {}): Promise<number> {
    return (await this.#calls.call('catalog_archive_scenarios', { path: { ref: refOf(ref) }, ...options })).archived;
  }

  /** Delete the version NAME@2; its number is not used again. */
  async delete(ref: Version, options: Abortable = {}): Promise<void> {
    await this.#calls.call('catalog_delete_scenarios', { path: { ref: refOf(ref) }, ...options });
  }
}

/** The scoring contracts of your workspace. Scenarios refer to one by `scoring: { contract: NAME }`. */
export class ScoringContracts {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Check it, then keep it as the next version of `name`; the same content gives the version that there is. */
  async create(
    name: string,
    contract: Contract,
    options: { metadata?: Record<string, string> } & Abortable = {},
  ): Promise<ScoringContract> {
    const { metadata, signal } = options;
    const body = { name, contract: contract as Record<string, unknown>, ...(metadata ? { metadata } : {}) };
    return await this.#calls.call('catalog_create_contract', { body, signal });
  }

  /** The version NAME@2, or the newest of NAME. Throws NotFoundError. */
  async get(ref: Version, options: Abortable = {}): Promise<ScoringContract> {
    return await this.#calls.call('catalog_get_contract', { path: { ref: refOf(ref) }, ...options });
  }

  /** Newest first. */
  list(options: VersionListOptions = {}): Listing<ScoringContract> {
    const { limit, signal, ...asked } = options;
    return new Listing(async (cursor, size) => {
      const query = { ...matching(asked), limit: size, cursor: cursor as number | undefined };
      const page = await this.#calls.call('catalog_list_contracts', { query, signal });
      return { items: page.scoringContracts, nextCursor: page.nextCursor };
    }, limit);
  }

  /** Hide a version, or with a bare name every version; how many were archived. */
  async archive(ref: Version, options: Abortable = {}): Promise<number> {
    return (await this.#calls.call('catalog_archive_contract', { path: { ref: refOf(ref) }, ...options })).archived;
  }

  /** Delete the version NAME@2. What refers to it cannot be run any more. */
  async delete(ref: Version, options: Abortable = {}): Promise<void> {
    await this.#calls.call('catalog_delete_contract', { path: { ref: refOf(ref) }, ...options });
  }
}

/** NAME@2 of what was given. */
export function refOf(version: Version): string {
  return typeof version === 'string' ? version : version.ref;
}

function matching(asked: Omit<VersionListOptions, keyof ListOptions>) {
  const { name, prefix, metadata, archived } = asked;
  const pairs = metadata && Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
  return { name, prefix, metadata: pairs, archived };
}
