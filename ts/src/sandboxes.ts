// Sandboxes: isolated, fresh places to run programs in.
import { randomUUID } from 'node:crypto';

import { type Abortable, type Answer, type Body, type Calls, WAIT_SECONDS } from './calls.js';
import { NotFoundError, SandboxNotFoundError } from './errors.js';
import { Files } from './files.js';
import type { Lease } from './lease.js';
import { Listing, type ListOptions } from './pages.js';
import {
  base64, bytesOf, type CommandOutput, type Content, type ExecOptions, type ExecResult, Process, type ProcessInfo, type SandboxUsage,
  Terminal,
} from './process.js';

/** What is known of a sandbox at one moment. */
export type SandboxInfo = Answer<'sandboxes_get'>;

/** What a sandbox may use; see docs/reference/http.md for each limit. */
export type Limits = NonNullable<Body<'sandboxes_create'>['limits']>;

/** What a sandbox shall be. */
export type SandboxOptions = Omit<Body<'sandboxes_create'>, 'files' | 'leaseId' | 'blueprint'> &
  Abortable & {
    /** A blueprint, its name or its id. */
    blueprint?: string | { id: string };
    /** Path -> content, written before the first command. */
    files?: Record<string, Content>;
    /** A snapshot, its name or its id, that it begins with. */
    snapshot?: string | { id: string };
    /** It outlives this client, until it is stopped or its lifetime is over (`limits.lifetimeSeconds`). */
    detached?: boolean;
  };

/** A snapshot of a sandbox's files. */
export type Snapshot = Answer<'snapshots_get_snapshot'>;

const ENDS = new Set<string>(['terminated', 'failed', 'completed']);

/** The sandboxes of your workspace. */
export class Sandboxes {
  readonly #calls: Calls;
  readonly #lease: Lease;

  /** @internal */
  constructor(calls: Calls, lease: Lease) {
    this.#calls = calls;
    this.#lease = lease;
  }

  /**
   * Create a sandbox; done when it runs. It ends with this client (`close`, or a minute after its process has gone),
   * unless it is `detached`. One whose creation is aborted is ended.
   */
  async create(options: SandboxOptions = {}): Promise<Sandbox> {
    const { detached = false, files, blueprint, snapshot, signal, image, ...rest } = options;
    const body: Body<'sandboxes_create'> = { ...rest };
    if (image !== undefined) body.image = image;
    if (snapshot !== undefined) {
      if (image !== undefined) throw new TypeError('both image and snapshot are given: a sandbox begins with one of them');
      body.image = `snapshot://${idOf(snapshot)}`;
    }
    if (blueprint !== undefined) body.blueprint = idOf(blueprint);
    if (files !== undefined) {
      body.files = Object.fromEntries(Object.entries(files).map(([path, content]) => [path, base64(bytesOf(content))]));
    }
    if (detached) return await this.#create(body, signal);
    try {
      return await this.#create({ ...body, leaseId: await this.#lease.id() }, signal);
    } catch (error) {
      if (!(error instanceof NotFoundError) || error.reason !== 'LEASE_OVER') throw error;
    }
    this.#lease.forget(); // this process slept for longer than its lease, or the server was started anew
    return await this.#create({ ...body, leaseId: await this.#lease.id() }, signal);
  }

  /** Create `count` sandboxes of the same kind at the same time. Where one cannot be made, none is left. */
  async createMany(count: number, options: SandboxOptions = {}): Promise<Sandbox[]> {
    const made = await Promise.allSettled(Array.from({ length: count }, () => this.create(options)));
    const failed = made.find((each) => each.status === 'rejected');
    const sandboxes = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    if (failed === undefined) return sandboxes;
    await Promise.allSettled(sandboxes.map((each) => each.stop()));
    throw failed.reason;
  }

  /** The sandbox with this id. Throws SandboxNotFoundError. */
  async get(id: string, options: Abortable = {}): Promise<Sandbox> {
    return new Sandbox(this.#calls, await this.#calls.call('sandboxes_get', { path: { sandbox_id: id }, ...options }));
  }

  /** The sandboxes that carry all `tags` and have one of the `statuses`, the oldest first. */
  list(
    options: ListOptions & { tags?: string[]; statuses?: SandboxInfo['status'][]; includeTerminal?: boolean } = {},
  ): Listing<Sandbox> {
    const { tags, statuses, includeTerminal, limit, signal } = options;
    return new Listing(async (cursor, size) => {
      const page = await this.#calls.call('sandboxes_list_sandboxes', {
        query: { tag: tags, status: statuses, includeTerminal, limit: size, cursor: cursor as string | undefined },
        signal,
      });
      return { items: page.sandboxes.map((info) => new Sandbox(this.#calls, info)), nextCursor: page.nextCursor };
    }, limit);
  }

  async #create(body: Body<'sandboxes_create'>, signal: AbortSignal | undefined): Promise<Sandbox> {
    signal?.throwIfAborted(); // nothing was asked for yet
    const idempotencyKey = randomUUID();
    try {
      return new Sandbox(this.#calls, await this.#calls.call('sandboxes_create', { body, idempotencyKey, signal }));
    } catch (error) {
      // the server may be at it, or done: nobody would ever stop that sandbox
      if (signal?.aborted) void this.#endGivenUp(body, idempotencyKey);
      throw error;
    }
  }

  async #endGivenUp(body: Body<'sandboxes_create'>, idempotencyKey: string): Promise<void> {
    try {
      const info = await this.#calls.call('sandboxes_create', { body, idempotencyKey });
      await this.#calls.call('sandboxes_stop', { path: { sandbox_id: info.id }, body: {} });
    } catch {
      // what cannot be ended now ends with the lease, or at the end of its lifetime
    }
  }
}

/** One sandbox. `await using` stops it at the end of its block. */
export class Sandbox implements AsyncDisposable {
  readonly files: Files;
  readonly #calls: Calls;
  #info: SandboxInfo;

  /** @internal */
  constructor(calls: Calls, info: SandboxInfo) {
    this.#calls = calls;
    this.#info = info;
    this.files = new Files(calls, info.id);
  }

  get id(): string {
    return this.#info.id;
  }

  /** What the server said last; `refresh` asks it. */
  get info(): SandboxInfo {
    return this.#info;
  }

  get status(): SandboxInfo['status'] {
    return this.#info.status;
  }

  /**
   * Run a command, without a shell, to its end. `onStdout` and `onStderr` get its output as it comes. A command that
   * fails is no error but with `check: true`; one that passes `timeoutSeconds` is a SandboxCommandTimeoutError.
   */
  async exec(
    command: readonly string[],
    options: Omit<ExecOptions, 'stdin'> & {
      stdin?: Content;
      onStdout?: (text: string) => void;
      onStderr?: (text: string) => void;
    } = {},
  ): Promise<ExecResult> {
    const { onStdout, onStderr, ...rest } = options;
    const process = await this.start(command, rest);
    const told = [onStdout && tell(process.stdout, onStdout), onStderr && tell(process.stderr, onStderr)];
    try {
      const [result] = await Promise.all([process.result(), ...told]);
      return result;
    } catch (error) {
      await process.kill().catch(() => undefined); // where it was a callback that has failed, it still runs
      throw error;
    }
  }

  /** Start a command, without a shell; done when it runs. Its output is streamed, its input may be written. */
  async start(command: readonly string[], options: ExecOptions = {}): Promise<Process> {
    return await new Process(this.#calls, this.id, command, options).begin();
  }

  /** Start a command (`/bin/bash`) on a pseudo-terminal of 80 columns and 24 rows, or as many as are given. */
  async shell(
    command: readonly string[] = ['/bin/bash'],
    options: Omit<ExecOptions, 'stdin' | 'check'> & { columns?: number; rows?: number } = {},
  ): Promise<Terminal> {
    const { columns = 80, rows = 24, ...rest } = options;
    return await new Terminal(this.#calls, this.id, command, { ...rest, stdin: true }).begin({ terminal: [columns, rows] });
  }

  /** The processes inside. */
  async processes(options: Abortable = {}): Promise<ProcessInfo[]> {
    return (await this.#calls.call('sandboxes_processes', { path: this.#path, ...options })).processes;
  }

  /** What the programs inside use: processor time so far, and memory now. */
  async usage(options: Abortable = {}): Promise<SandboxUsage> {
    return await this.#calls.call('sandboxes_usage', { path: this.#path, ...options });
  }

  /** The ends of what its newest commands printed, also when it has ended. */
  async outputs(options: Abortable = {}): Promise<CommandOutput[]> {
    return (await this.#calls.call('sandboxes_outputs', { path: this.#path, ...options })).commands;
  }

  /** Send a signal (9 = SIGKILL) to a process inside, by the `pid` that `processes` gives. */
  async kill(pid: number, signum = 9, options: Abortable = {}): Promise<void> {
    await this.#calls.call('sandboxes_signal', { path: { ...this.#path, pid }, body: { signal: signum }, ...options });
  }

  /** Ask the server how it is. */
  async refresh(options: Abortable = {}): Promise<SandboxInfo> {
    return this.#know(await this.#calls.call('sandboxes_get', { path: this.#path, ...options }));
  }

  /** Wait for its end. */
  async wait(options: Abortable = {}): Promise<SandboxInfo> {
    while (!this.#hasEnded) {
      this.#know(await this.#calls.call('sandboxes_wait', { path: this.#path, query: { seconds: WAIT_SECONDS }, ...options }));
    }
    return this.#info;
  }

  /** End it; done when nothing of it runs any more. With `graceSeconds`, every process gets SIGTERM and so long. */
  async stop(options: { graceSeconds?: number } & Abortable = {}): Promise<void> {
    if (this.#hasEnded) return;
    const { graceSeconds = 0, signal } = options;
    this.#know(await this.#calls.call('sandboxes_stop', { path: this.#path, body: { graceSeconds }, signal }));
  }

  /** End it `seconds` from now at the earliest. */
  async extendLifetime(seconds: number, options: Abortable = {}): Promise<SandboxInfo> {
    return this.#know(await this.#calls.call('sandboxes_extend', { path: this.#path, body: { seconds }, ...options }));
  }

  /** Take a snapshot of its files, which `create({ snapshot })` begins with. Only sandboxes of images have layers. */
  async snapshot(options: { name?: string; ttlSeconds?: number; inMemory?: boolean } & Abortable = {}): Promise<Snapshot> {
    const { signal, ...query } = options;
    return await this.#calls.call('snapshots_create', { query: { sandbox: this.id, ...query }, signal });
  }

  /** End it; one that the server does not know any more has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.stop();
    } catch (error) {
      if (!(error instanceof SandboxNotFoundError)) throw error;
    }
  }

  get #path(): { sandbox_id: string } {
    return { sandbox_id: this.id };
  }

  get #hasEnded(): boolean {
    return ENDS.has(this.#info.status);
  }

  /** An end is final: an answer that was under way when it came, and is older, changes nothing. */
  #know(info: SandboxInfo): SandboxInfo {
    if (!this.#hasEnded) this.#info = info;
    return this.#info;
  }
}

async function tell(output: AsyncIterable<string>, told: (text: string) => void): Promise<void> {
  for await (const text of output) told(text);
}

/** The id or name of something that was given as itself, or by these. */
export function idOf(given: string | { id: string }): string {
  return typeof given === 'string' ? given : given.id;
}
