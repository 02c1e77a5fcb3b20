// Files inside a sandbox.
import { type Abortable, type Answer, type Calls } from './calls.js';
import type { Pieces } from './connection.js';
import { SandboxFileError, SandboxUnavailableError } from './errors.js';
import { bytesOf, type Content } from './process.js';

/** What is known of one path. */
export type FileInfo = Answer<'files_stat'>;

/** The files of one sandbox. Paths are absolute. */
export class Files {
  readonly #calls: Calls;
  readonly #sandboxId: string;

  /** @internal */
  constructor(calls: Calls, sandboxId: string) {
    this.#calls = calls;
    this.#sandboxId = sandboxId;
  }

  /** The whole file. One larger than `maxBytes` is refused. */
  async read(path: string, options: { maxBytes?: number } & Abortable = {}): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.readStream(path, options)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** The whole file as text (UTF-8). */
  async readText(path: string, options: { maxBytes?: number } & Abortable = {}): Promise<string> {
    return Buffer.from(await this.read(path, options)).toString('utf8');
  }

  /** The file piece by piece. */
  async *readStream(path: string, options: { maxBytes?: number } & Abortable = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const { maxBytes, signal } = options;
    const { response, asked } = await this.#calls.open('files_read', {
      path: this.#path,
      query: { path, ...(maxBytes === undefined ? {} : { maxBytes }) },
      signal,
    });
    try {
      yield* this.#calls.connection.pieces(response, asked);
    } catch (error) {
      if (!(error instanceof SandboxUnavailableError)) throw error;
      const message = `${path}: the stream broke off before its end; what has come is not whole`;
      throw new SandboxFileError(message, { path, reason: 'IO_FAILED', sandboxId: this.#sandboxId, cause: error });
    }
  }

  /** Create or replace a file, and the directories that it lies in. `content` may be pieces as they come. */
  async write(path: string, content: Content | Pieces, options: { mode?: number } & Abortable = {}): Promise<void> {
    await this.#send('files_write', path, content, options);
  }

  /** Add to a file's end; it is created where it is missing. */
  async append(path: string, content: Content | Pieces, options: { mode?: number } & Abortable = {}): Promise<void> {
    await this.#send('files_append', path, content, options);
  }

  /** A directory's entries, sorted by name. */
  async list(path: string, options: Abortable = {}): Promise<FileInfo[]> {
    return (await this.#calls.call('files_list_files', { path: this.#path, query: { path }, ...options })).entries;
  }

  /** About one path; a link is described, not followed. */
  async stat(path: string, options: Abortable = {}): Promise<FileInfo> {
    return await this.#calls.call('files_stat', { path: this.#path, query: { path }, ...options });
  }

  /** Whether there is something. */
  async exists(path: string, options: Abortable = {}): Promise<boolean> {
    try {
      await this.stat(path, options);
      return true;
    } catch (error) {
      if (error instanceof SandboxFileError && error.reason === 'NOT_FOUND') return false;
      throw error;
    }
  }

  /** Create a directory; with `parents` also those above it, and no error where it is there. */
  async mkdir(path: string, options: { parents?: boolean } & Abortable = {}): Promise<void> {
    const { parents = false, signal } = options;
    await this.#calls.call('files_make_dir', { path: this.#path, query: { path, parents }, signal });
  }

  /** Remove a file, a link or an empty directory; with `recursive` a whole tree. */
  async remove(path: string, options: { recursive?: boolean; missingOk?: boolean } & Abortable = {}): Promise<void> {
    const { recursive = false, missingOk = false, signal } = options;
    await this.#calls.call('files_remove', { path: this.#path, query: { path, recursive, missingOk }, signal });
  }

  /** Unpack a tar stream into a directory, which is created where it is missing. */
  async extract(path: string, tar: Uint8Array | Pieces, options: Abortable = {}): Promise<void> {
    await this.#calls.call('files_extract', { path: this.#path, query: { path }, bytes: tar, ...options });
  }

  /** A tar stream of the files and directories below a directory. */
  async *archive(path: string, options: Abortable = {}): AsyncGenerator<Uint8Array, void, undefined> {
    const { response, asked } = await this.#calls.open('files_archive', { path: this.#path, query: { path }, ...options });
    yield* this.#calls.connection.pieces(response, asked);
  }

  get #path(): { sandbox_id: string } {
    return { sandbox_id: this.#sandboxId };
  }

  async #send(
    operation: 'files_write' | 'files_append',
    path: string,
    content: Content | Pieces,
    options: { mode?: number } & Abortable,
  ): Promise<void> {
    const { mode, signal } = options;
    const bytes = typeof content === 'string' ? bytesOf(content) : content;
    const query = { path, ...(mode === undefined ? {} : { mode }) };
    await this.#calls.call(operation, { path: this.#path, query, bytes, signal });
  }
}
