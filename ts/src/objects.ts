// What training refers to: data sets, models, tasks and capabilities with versions.
import type { Abortable, Answer, Calls } from './calls.js';
import { Listing, type ListOptions } from './pages.js';
import { digestOf, filesOf, packed } from './tar.js';

/** A published version. */
export type StoredObject = Answer<'objects_get_object'>;
export type ObjectKind = 'capability' | 'task' | 'dataset' | 'model' | 'checkpoint';

/** The published objects of your workspace. */
export class Objects {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Publish the file or directory at `path` of this machine as NAME@VERSION. A version never changes. */
  async push(kind: ObjectKind, path: string, ref: string, options: Abortable = {}): Promise<StoredObject> {
    const [name, version] = partsOf(ref);
    const files = await filesOf(path);
    return await this.#calls.call('objects_push_object', {
      query: { kind, name, version, digest: await digestOf(files) },
      bytes: () => packed(files),
      ...options,
    });
  }

  /** The version NAME@VERSION, or of NAME the newest. Throws NotFoundError. */
  async get(kind: ObjectKind, ref: string, options: Abortable = {}): Promise<StoredObject> {
    return await this.#calls.call('objects_get_object', { path: { kind, ref }, ...options });
  }

  /** Every version, newest first. */
  list(options: ListOptions & { kind?: ObjectKind; name?: string } = {}): Listing<StoredObject> {
    const { kind, name, limit, signal } = options;
    return new Listing(async (cursor, size) => {
      const query = { kind, name, limit: size, cursor: cursor as string | undefined };
      const page = await this.#calls.call('objects_list_objects', { query: query as never, signal });
      return { items: page.objects, nextCursor: page.nextCursor };
    }, limit);
  }

  /** A tar stream of an object's files. */
  async *pull(kind: ObjectKind, ref: string, options: Abortable = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const { response, asked } = await this.#calls.open('objects_pull_object', { path: { kind, ref }, ...options });
    yield* this.#calls.connection.pieces(response, asked);
  }

  /** Delete the version NAME@VERSION. */
  async delete(kind: ObjectKind, ref: string, options: Abortable = {}): Promise<void> {
    await this.#calls.call('objects_delete_object', { path: { kind, ref }, ...options });
  }
}

function partsOf(ref: string): [name: string, version: string] {
  const [name = '', version = '', ...more] = ref.split('@');
  if (!name || !version || more.length > 0) throw new TypeError(`write the object as NAME@VERSION (got ${JSON.stringify(ref)})`);
  return [name, version];
}
