// One client's connections to one server: requests, their errors, and nothing about what they mean.
//
// node:http and not fetch: fetch ends an answer of which nothing has come for five minutes, and a command may be silent
// for longer than that.
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { errorOf, HarenaError, SandboxUnavailableError } from './errors.js';
import { pauseSeconds, sleep } from './retry.js';

const CONNECT_SECONDS = 10;
/** Shorter than the server's, so that no request is sent on a connection that it closes in the same moment. */
const KEEP_ALIVE_SECONDS = 30;
const MOST_OF_A_PROBLEM = 1024 * 1024;

/** Pieces of a body. */
export type Pieces = AsyncIterable<Uint8Array>;

/** A query: what is undefined is left out, a list is given once for each of its values. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

export interface Asked {
  method: string;
  /** Absolute and quoted. */
  path: string;
  query?: Query;
  headers?: Record<string, string>;
  /** A function makes the body anew, so that the request can be sent again; pieces cannot be. */
  body?: Uint8Array | (() => Pieces) | Pieces;
  signal?: AbortSignal;
}

/** Reasons of errors that the client itself has found. */
export const CONNECTION_LOST = 'CONNECTION_LOST';
export const SERVER_UNREACHABLE = 'SERVER_UNREACHABLE';
export const CLOSED = 'CLOSED';

const NOTHING_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'CONNECT_TIMEOUT']);
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

export class Connection {
  readonly baseUrl: string;
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #request: typeof httpRequest;
  #closed = false;

  constructor(baseUrl: string, apiKey: string | undefined) {
    this.#url = new URL(baseUrl);
    if (this.#url.protocol !== 'http:' && this.#url.protocol !== 'https:') {
      throw new TypeError(`baseUrl must be an http or https URL (got ${baseUrl})`);
    }
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.#headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    const secure = this.#url.protocol === 'https:';
    const options = { keepAlive: true, timeout: KEEP_ALIVE_SECONDS * 1000 };
    this.#agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#request = secure ? (httpsRequest) : httpRequest;
  }

  /**
   * The begin of an answer, whose content the caller reads or destroys. A server that is too busy for this now is asked
   * again when it says so, where the body can be sent again. Throws the server's error.
   */
  async open(asked: Asked): Promise<IncomingMessage> {
    const { body } = asked;
    const again = body === undefined || body instanceof Uint8Array || typeof body === 'function';
    const idempotent = IDEMPOTENT.has(asked.method) || asked.headers?.['idempotency-key'] !== undefined;
    let waited = 0;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#exchange(asked, idempotent && again);
      } catch (error) {
        const pause = error instanceof HarenaError ? pauseSeconds(error, idempotent, tries, waited) : undefined;
        if (pause === undefined || !again) throw error;
        await sleep(pause, asked.signal);
        waited += pause;
      }
    }
  }

  /** The JSON that comes back; undefined where nothing does. */
  async json(asked: Asked): Promise<unknown> {
    const text = await this.read(await this.open(asked), asked);
    return text.length === 0 ? undefined : this.parse(text);
  }

  /** All of an answer's content. */
  async read(response: IncomingMessage, asked: Asked): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.pieces(response, asked)) pieces.push(piece);
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  /** An answer's content as it comes. Whoever stops reading closes the connection. */
  async *pieces(response: IncomingMessage, asked: Asked): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* response as AsyncIterable<Buffer>;
    } catch (error) {
      throw this.#lost(asked, error);
    }
  }

  /** The JSON of an answer. Throws SandboxUnavailableError for what is none. */
  parse(text: Buffer): unknown {
    try {
      return JSON.parse(text.toString('utf8'));
    } catch {
      throw this.broken(`an answer is no JSON (${JSON.stringify(text.toString('utf8').slice(0, 80))})`);
    }
  }

  /** The error of an answer that is not what it should be. */
  broken(what: string): SandboxUnavailableError {
    return new SandboxUnavailableError(`${what}, from ${this.baseUrl}`, { step: 'http', reason: 'BROKEN_ANSWER' });
  }

  /** Close every connection. May be called more than once. */
  close(): void {
    this.#closed = true;
    this.#agent.destroy();
  }

  async #exchange(asked: Asked, again: boolean): Promise<IncomingMessage> {
    const { signal } = asked;
    if (signal?.aborted) throw signal.reason;
    if (this.#closed) {
      throw new SandboxUnavailableError(`the connection to ${this.baseUrl} was closed: make another client`, { reason: CLOSED });
    }
    const sent: { request?: ClientRequest; source?: Source } = {};
    try {
      const response = await this.#send(asked, sent);
      if ((response.statusCode ?? 500) < 300) return response;
      throw await this.#problem(response, sent.request as ClientRequest);
    } catch (error) {
      if (error instanceof HarenaError) throw error;
      if (sent.source?.failure) throw sent.source.failure.error; // the source's own, and no fault of the connection
      // a connection that was idle may end in the moment in which it is used again: nobody has seen this request
      if (again && sent.request?.reusedSocket && codeOf(error) === 'ECONNRESET' && !signal?.aborted) {
        return await this.#exchange(asked, again);
      }
      throw this.#lost(asked, error);
    }
  }

  #send(asked: Asked, sent: { request?: ClientRequest; source?: Source }): Promise<IncomingMessage> {
    const body = typeof asked.body === 'function' ? asked.body() : asked.body;
    return new Promise<IncomingMessage>((resolve, reject) => {
      const request = this.#request({
        agent: this.#agent,
        host: this.#url.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: this.#url.port || undefined,
        method: asked.method,
        path: `${this.#url.pathname.replace(/\/+$/, '')}${asked.path}${queryText(asked.query)}`,
        headers: { ...this.#headers, ...asked.headers },
        signal: asked.signal,
      });
      sent.request = request;
      request.on('response', resolve);
      request.on('error', reject); // after the answer's begin it is the answer that says what went wrong
      request.on('socket', (socket) => {
        if (!socket.connecting) return;
        const late = setTimeout(() => {
          const message = `it was not connected after ${CONNECT_SECONDS} seconds`;
          request.destroy(Object.assign(new Error(message), { code: 'CONNECT_TIMEOUT' }));
        }, CONNECT_SECONDS * 1000);
        socket.once('connect', () => clearTimeout(late));
        socket.once('close', () => clearTimeout(late));
      });
      if (body === undefined || body instanceof Uint8Array) {
        request.end(body);
      } else {
        sent.source = new Source(body);
        // unless there is an answer already, which says more
        pipeline(Readable.from(sent.source, { objectMode: false }), request).catch(reject);
      }
    });
  }

  async #problem(response: IncomingMessage, request: ClientRequest): Promise<HarenaError> {
    let text = Buffer.alloc(0);
    try {
      for await (const piece of response as AsyncIterable<Buffer>) {
        text = Buffer.concat([text, piece]);
        if (text.length > MOST_OF_A_PROBLEM) break;
      }
    } catch {
      // what has come of it says what is to be said
    }
    if (!request.writableFinished) request.destroy(); // the rest of the body is for nobody
    let written: unknown;
    try {
      written = JSON.parse(text.toString('utf8'));
    } catch {
      written = undefined;
    }
    if (written !== null && typeof written === 'object' && !Array.isArray(written)) {
      return errorOf(written as Record<string, unknown>);
    }
    const shown = JSON.stringify(text.toString('utf8', 0, 200));
    const seconds = response.headers['retry-after'];
    return errorOf({
      status: response.statusCode,
      detail: `something that is no harena server says ${shown}`,
      // a proxy, for a server that is away
      retry_after_seconds: seconds !== undefined && /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined,
    });
  }

  #lost(asked: Asked, error: unknown): Error {
    if (asked.signal?.aborted) return asked.signal.reason as Error;
    if (error instanceof HarenaError) return error;
    const why = error instanceof Error ? error.message || String(codeOf(error)) : String(error);
    if (NOTHING_SENT.has(codeOf(error) ?? '')) {
      return new SandboxUnavailableError(
        `no server answers at ${this.baseUrl} (${why}): start one with \`harena serve\`, or set HARENA_BASE_URL to where one runs`,
        { step: 'http', reason: SERVER_UNREACHABLE, cause: error },
      );
    }
    const what = `${asked.method} ${asked.path}`;
    return new SandboxUnavailableError(`the connection to ${this.baseUrl} broke off during ${what}: ${why}`, {
      step: 'http',
      reason: CONNECTION_LOST,
      cause: error,
    });
  }
}

/** Somebody's pieces, and what went wrong with them. */
class Source implements Pieces {
  failure: { error: unknown } | undefined;

  constructor(readonly body: Pieces) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const piece of this.body) if (piece.length > 0) yield piece;
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }
}

function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === 'string') return code;
  // of several addresses that a name has: one error with those of all
  const each = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return each.length > 0 ? codeOf(each[0]) : undefined;
}

function queryText(query: Query = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? (value as readonly string[]) : [value]) pairs.append(name, String(each));
  }
  const text = pairs.toString();
  return text ? `?${text}` : '';
}
