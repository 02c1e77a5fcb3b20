// Lists, of which the server gives one page after the other.
import type { Abortable } from './calls.js';

/** One page, and the cursor of the next; null = it is the last one. */
export interface Page<T> {
  items: T[];
  nextCursor: string | number | null;
}

/**
 * A list that is fetched while it is read.
 *
 *     for await (const job of harena.benchmarkJobs.list()) ...
 *     const newest = await harena.benchmarkJobs.list({ limit: 10 }).all();
 */
export class Listing<T> implements AsyncIterable<T> {
  readonly #fetch: (cursor: string | number | undefined, size: number) => Promise<Page<T>>;
  readonly #most: number;
  readonly #size: number;

  /** `most`: entries in all. `size`: entries that one request asks for. */
  constructor(
    fetch: (cursor: string | number | undefined, size: number) => Promise<Page<T>>,
    most = Number.POSITIVE_INFINITY,
    size = 500,
  ) {
    if (!(most >= 0)) throw new TypeError(`limit must be 0 or more (got ${most})`);
    this.#fetch = fetch;
    this.#most = most;
    this.#size = size;
  }

  /** A page at a time. */
  async *pages(): AsyncGenerator<T[], void, undefined> {
    let cursor: string | number | undefined;
    for (let left = this.#most; left > 0; ) {
      const page = await this.#fetch(cursor, Math.min(left, this.#size));
      const items = page.items.slice(0, left);
      left -= items.length;
      if (items.length > 0) yield items;
      if (page.nextCursor === null) return;
      if (page.nextCursor === cursor) throw new Error('the server names a page as the one after itself');
      cursor = page.nextCursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page;
  }

  /** All entries. */
  async all(): Promise<T[]> {
    const found: T[] = [];
    for await (const page of this.pages()) found.push(...page);
    return found;
  }
}

/** What every list takes. */
export interface ListOptions extends Abortable {
  /** So many entries at most; all of them where nothing is said. */
  limit?: number;
}
