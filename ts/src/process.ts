// Commands in a sandbox: `Process`, and `Terminal` for those on a pseudo-terminal.
import type { IncomingMessage } from 'node:http';

import type { Answer, Body, Calls } from './calls.js';
import type { Asked } from './connection.js';
import {
  errorOf,
  HarenaError,
  SandboxCommandTimeoutError,
  SandboxExecutionError,
} from './errors.js';
import { type Frame, FrameError, MOST_BYTES, PROBLEM, readFrames, RESULT, STARTED, STDERR, STDOUT } from './frames.js';
import type { components } from './generated/schema.js';
import { type Camel, received } from './naming.js';
import { Output } from './output.js';

/** Larger input follows the request, as streamed input does. */
const MOST_STDIN_IN_THE_REQUEST = 8 * 1024 * 1024;
const STDERR_IN_MESSAGE_CHARACTERS = 2000;

type Report = Camel<components['schemas']['ExecReport']>;

/** Text, which is written as UTF-8, or bytes. */
export type Content = string | Uint8Array;

/** What a command did: also its failure is data. */
export interface ExecResult {
  /** What ended it: `exited`, `signaled`, `timeout`, `cancelled` or `memory`. */
  outcome: Report['outcome'];
  /** Its exit code, or minus the signal that ended it. */
  returncode: number;
  /** Standard output as text (UTF-8; what is none is replaced). */
  stdout: string;
  /** Standard error as text. */
  stderr: string;
  stdoutBytes: Uint8Array;
  stderrBytes: Uint8Array;
  /** It has written more than was kept. */
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
  /** Wall time from its start to its end. */
  durationSeconds: number;
  usage: Report['usage'];
  /** The program was forked from a warm interpreter. */
  warm: boolean;
  command: readonly string[];
}

/** What `exec` and `start` take beside the command. */
export interface ExecOptions {
  /** Where it runs. */
  cwd?: string;
  /** Added to the sandbox's environment. */
  env?: Record<string, string>;
  /** Name or number (perhaps `user:group`) in a sandbox of an image. */
  user?: string;
  /** After so long of wall time all that the command has started is killed. */
  timeoutSeconds?: number;
  /** Processor time that each process may take. */
  cpuSeconds?: number;
  /** Bytes of each output stream that are kept. */
  outputBytes?: number;
  /** All that the command shall read; `true` = `Process.stdin` is written to. */
  stdin?: Content | true;
  /** `false` = start a real interpreter where the blueprint has a warm one. */
  warm?: boolean;
  /** Anything but exit code 0 is a SandboxExecutionError. */
  check?: boolean;
  /** Kills the command; whoever waits for it gets the signal's reason. */
  signal?: AbortSignal;
}

/** Standard input of a command. */
export interface Stdin {
  /** Done when the command's pipe has taken all of it. */
  write(data: Content): Promise<void>;
  /** End of input, after what was written before. */
  close(): Promise<void>;
}

/** A command that runs. It is killed when the connection that carries its output closes. */
export class Process implements AsyncDisposable {
  readonly stdout = new Output();
  readonly stderr = new Output();
  readonly command: readonly string[];
  /** Standard input; null unless `stdin: true` was given. */
  readonly stdin: Stdin | null;
  /** @internal */
  protected readonly calls: Calls;
  readonly #sandboxId: string;
  readonly #options: ExecOptions;
  #execId = '';
  #response: IncomingMessage | undefined;
  #ended = false;
  #stdinClosed = false;
  /** Requests that steer it are sent one after the other, in the order of their calls. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #result: Promise<ExecResult>;
  #resolve!: (result: ExecResult) => void;
  #reject!: (error: unknown) => void;

  /** @internal */
  constructor(calls: Calls, sandboxId: string, command: readonly string[], options: ExecOptions) {
    this.calls = calls;
    this.#sandboxId = sandboxId;
    this.command = [...command];
    this.#options = options;
    this.#result = new Promise<ExecResult>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#result.catch(() => undefined); // whoever waits is told; that nobody does is no news
    this.stdin = options.stdin === true ? { write: (data) => this.#write(data), close: () => this.#closeStdin() } : null;
  }

  /** @internal Done when the command has started. */
  async begin(more: Partial<Body<'commands_run'>> = {}): Promise<this> {
    const { stdin, signal, check: _, ...options } = this.#options;
    const given = stdin === undefined || stdin === true ? undefined : bytesOf(stdin);
    const large = given !== undefined && given.length > MOST_STDIN_IN_THE_REQUEST;
    const { response, asked } = await this.calls.open('commands_run', {
      path: { sandbox_id: this.#sandboxId },
      body: {
        ...options,
        argv: [...this.command],
        stdin: given === undefined || large ? null : base64(given),
        stdinStream: stdin === true || large,
        ...more,
      },
      signal,
    });
    this.#response = response;
    const frames = readFrames(this.calls.connection.pieces(response, asked));
    const first = await this.#first(frames, asked);
    this.#execId = (JSON.parse(first.content.toString('utf8')) as { exec_id: string }).exec_id;
    void this.#follow(frames, asked);
    if (large) void this.#feed(given);
    return this;
  }

  /**
   * The result, when the command has ended. Throws SandboxCommandTimeoutError, SandboxExecutionError (with `check`), and
   * errors about the sandbox and the platform.
   */
  async result(): Promise<ExecResult> {
    return await this.#result;
  }

  /** Kill the command's whole process tree; its result says outcome `cancelled`. No effect after the end. */
  async kill(): Promise<void> {
    if (!this.#ended) await this.#ask(() => this.calls.call('commands_kill', { path: this.path }));
  }

  /** Kill the command where it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended) return;
    await this.kill();
    await this.#result.catch(() => undefined);
    this.#response?.destroy();
  }

  /** @internal */
  protected get path(): { sandbox_id: string; exec_id: string } {
    return { sandbox_id: this.#sandboxId, exec_id: this.#execId };
  }

  /** @internal */
  protected async steer(work: () => Promise<unknown>): Promise<void> {
    const turn = this.#last.catch(() => undefined).then(work);
    this.#last = turn;
    await turn;
  }

  /** Ask for something that has no effect after the command's end. */
  async #ask(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SandboxExecutionError) && !this.#ended) throw error;
    }
  }

  /** @internal */
  protected async steerWhileItRuns(work: () => Promise<unknown>): Promise<void> {
    if (!this.#ended) await this.steer(() => this.#ask(work));
  }

  async #write(data: Content): Promise<void> {
    const bytes = bytesOf(data);
    await this.steer(async () => {
      if (this.#ended || this.#stdinClosed) {
        const why = this.#ended ? 'the command has ended' : 'it is closed';
        throw new SandboxExecutionError(`cannot write to standard input of ${this.command[0]}: ${why}`, { reason: 'STDIN_CLOSED' });
      }
      for (let start = 0; start < bytes.length; start += MOST_BYTES) {
        await this.calls.call('commands_write_stdin', { path: this.path, bytes: bytes.subarray(start, start + MOST_BYTES) });
      }
    });
  }

  async #closeStdin(): Promise<void> {
    await this.steerWhileItRuns(async () => {
      if (this.#stdinClosed) return;
      this.#stdinClosed = true;
      await this.calls.call('commands_close_stdin', { path: this.path });
    });
  }

  async #feed(data: Uint8Array): Promise<void> {
    try {
      await this.#write(data);
      await this.#closeStdin();
    } catch (error) {
      if (!(error instanceof HarenaError)) this.#fail(error);
      // the program did not want all of its input; or the stream is lost, and the result says so
    }
  }

  async #first(frames: AsyncGenerator<Frame>, asked: Asked): Promise<Frame> {
    try {
      const next = await frames.next();
      if (next.done) throw new FrameError("a command's output broke off before its begin");
      if (next.value.kind === PROBLEM) throw errorOf(JSON.parse(next.value.content.toString('utf8')) as Record<string, unknown>);
      if (next.value.kind !== STARTED) throw new FrameError(`a command's output begins with frame ${next.value.kind}`);
      return next.value;
    } catch (error) {
      this.#response?.destroy();
      throw this.#told(error, asked);
    }
  }

  async #follow(frames: AsyncGenerator<Frame>, asked: Asked): Promise<void> {
    try {
      for await (const frame of frames) {
        if (frame.kind === STDOUT) this.stdout.append(frame.content);
        else if (frame.kind === STDERR) this.stderr.append(frame.content);
        else if (frame.kind === PROBLEM) throw errorOf(JSON.parse(frame.content.toString('utf8')) as Record<string, unknown>);
        else if (frame.kind === RESULT) this.#end(received(JSON.parse(frame.content.toString('utf8')), 'ExecReport') as Report);
        else throw new FrameError('a command begins twice');
      }
      // read to its end also behind the result, so that the connection can be used again
      if (!this.#ended) throw new FrameError("a command's output broke off before its result");
    } catch (error) {
      this.#fail(this.#told(error, asked));
      this.#response?.destroy();
    }
  }

  #told(error: unknown, asked: Asked): unknown {
    if (asked.signal?.aborted) return asked.signal.reason;
    if (error instanceof FrameError || error instanceof SyntaxError) return this.calls.connection.broken(error.message);
    return error;
  }

  #end(report: Report): void {
    if (report.stdoutBytes !== this.stdout.length || report.stderrBytes !== this.stderr.length) {
      throw new FrameError(`output of ${report.stdoutBytes} and ${report.stderrBytes} bytes was sent, and not all of it has arrived`);
    }
    const [out, err] = [this.stdout.content(), this.stderr.content()];
    const result: ExecResult = {
      outcome: report.outcome,
      returncode: report.returncode,
      stdout: out.toString('utf8'),
      stderr: err.toString('utf8'),
      stdoutBytes: out,
      stderrBytes: err,
      stdoutTruncated: report.stdoutTruncated,
      stderrTruncated: report.stderrTruncated,
      durationSeconds: report.durationSeconds,
      usage: report.usage,
      warm: report.warm,
      command: this.command,
    };
    const shown = shortened(this.command);
    if (report.outcome === 'timeout') {
      const message =
        `${shown} passed its timeoutSeconds=${this.#options.timeoutSeconds} and was killed with everything that it had ` +
        'started; its output so far is in .result';
      this.#fail(new SandboxCommandTimeoutError(message, { reason: 'COMMAND_TIMEOUT', sandboxId: this.#sandboxId, result }));
    } else if (this.#options.check && report.returncode !== 0) {
      const tail = result.stderr.slice(-STDERR_IN_MESSAGE_CHARACTERS).trim();
      const message = `${shown} ended with ${report.returncode} and check was asked for${tail ? `:\n${tail}` : ''}`;
      this.#fail(new SandboxExecutionError(message, { sandboxId: this.#sandboxId, result }));
    } else {
      this.#over();
      this.#resolve(result);
    }
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#over();
    this.#reject(error);
  }

  #over(): void {
    this.#ended = true;
    this.stdout.close();
    this.stderr.close();
  }
}

/** A command on a pseudo-terminal: `stdout` is what the terminal shows, `stdin` the keyboard. */
export class Terminal extends Process {
  declare readonly stdin: Stdin;

  /** The window is now `columns` wide and `rows` high. No effect after the end. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.steerWhileItRuns(() => this.calls.call('commands_resize', { path: this.path, body: { columns, rows } }));
  }
}

/** What `usage` gives. */
export type SandboxUsage = Answer<'sandboxes_usage'>;
/** What `outputs` gives, for each command. */
export type CommandOutput = Answer<'sandboxes_outputs'>['commands'][number];
/** What `processes` gives. */
export type ProcessInfo = Answer<'sandboxes_processes'>['processes'][number];

/** Bytes of what was given. */
export function bytesOf(content: Content): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
}

/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function shortened(command: readonly string[]): string {
  const text = JSON.stringify(command);
  return text.length <= 200 ? text : `${text.slice(0, 200)}...`;
}
