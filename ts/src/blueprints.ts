// Blueprints: recipes of environments.
import type { Abortable, Answer, Body, Calls } from './calls.js';
import { Listing, type ListOptions } from './pages.js';
import { base64, bytesOf, type Content } from './process.js';
import { idOf } from './sandboxes.js';

/** One version of a blueprint. */
export type Blueprint = Answer<'blueprints_get'>;
/** A blueprint as lists tell it: without its files. */
export type BlueprintSummary = Answer<'blueprints_list_blueprints'>['blueprints'][number];
/** What a blueprint shall be. */
export type BlueprintOptions = Omit<Body<'blueprints_create'>, 'name' | 'files'> & {
  /** Path -> content. */
  files?: Record<string, Content>;
};

/** The blueprints of your workspace, and the built-in ones. */
export class Blueprints {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Install the packages and record the recipe; a name that exists gets its next version. */
  async create(name: string, options: BlueprintOptions & Abortable = {}): Promise<Blueprint> {
    const { files, signal, ...rest } = options;
    const body: Body<'blueprints_create'> = { name, ...rest };
    if (files !== undefined) {
      body.files = Object.fromEntries(Object.entries(files).map(([path, content]) => [path, base64(bytesOf(content))]));
    }
    return await this.#calls.call('blueprints_create', { body, signal });
  }

  /** The newest version of a name, or the one with this id. Throws NotFoundError. */
  async get(nameOrId: string, options: Abortable = {}): Promise<Blueprint> {
    return await this.#calls.call('blueprints_get', { path: { name_or_id: nameOrId }, ...options });
  }

  /** The newest version of each, newest first; with `name` every version of that one. */
  list(options: ListOptions & { name?: string } = {}): Listing<BlueprintSummary> {
    const { name, limit, signal } = options;
    return new Listing(async (cursor, size) => {
      const query = { name, cursor: cursor as string | undefined, limit: size };
      const page = await this.#calls.call('blueprints_list_blueprints', { query, signal });
      return { items: page.blueprints, nextCursor: page.nextCursor };
    }, limit);
  }

  /** Forget every version of a name, or the one with this id. Needs the scope `admin`. */
  async delete(blueprint: string | { id: string }, options: Abortable = {}): Promise<void> {
    await this.#calls.call('blueprints_delete', { path: { name_or_id: idOf(blueprint) }, ...options });
  }
}
