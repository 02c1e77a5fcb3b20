// Operations of the API, asked by their names in the document: paths, parameters, bodies and answers have its types.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { CLOSED, Connection, CONNECTION_LOST, type Asked, type Query } from './connection.js';
import { PlatformError, SandboxUnavailableError } from './errors.js';
import { type Route, routes } from './generated/routes.js';
import type { operations } from './generated/schema.js';
import { writeJson } from './json.js';
import { type Camel, received, sent, toSnake } from './naming.js';
import { Pauses, sleep } from './retry.js';

/** How long one request waits for something's end; asked again for as long as somebody waits. */
export const WAIT_SECONDS = 30;

export type OperationId = keyof operations & keyof typeof routes;

type Parameters<O extends OperationId, Place extends string> = operations[O] extends {
  parameters: { [P in Place]?: infer T };
}
  ? T
  : never;
type Content<T> = T extends { content: { 'application/json': infer C } } ? C : never;
type Responses<O extends OperationId> = operations[O] extends { responses: infer R } ? R : never;
/** What an operation answers. */
export type Answer<O extends OperationId> = Camel<
  Responses<O> extends { 200: infer R } ? Content<R> : Responses<O> extends { 201: infer R } ? Content<R> : undefined
>;
type BodyOf<O extends OperationId> = operations[O] extends { requestBody: { content: { 'application/json': infer B } } } ? B : never;
/** What an operation is asked with, as JSON. */
export type Body<O extends OperationId> = Camel<BodyOf<O>>;

/** What an operation is asked with. */
export interface Given<O extends OperationId> {
  path?: Parameters<O, 'path'>;
  query?: Camel<Parameters<O, 'query'>>;
  body?: Body<O>;
  /** Bytes in place of JSON. */
  bytes?: Asked['body'];
  contentType?: string;
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Ends a request that is under way; its promise is rejected with the signal's reason. */
export interface Abortable {
  signal?: AbortSignal;
}

/** A client of one server. */
export class Calls {
  constructor(readonly connection: Connection) {}

  /** What the operation answers. A creation whose answer was lost is asked for again: its idempotency key makes it the
   * same one. */
  async call<O extends OperationId>(operation: O, given: Given<O> = {}): Promise<Answer<O>> {
    const route: Route = routes[operation];
    const asked = this.asked(operation, given);
    const answer = route.creates ? await this.#twice(asked) : await this.#answer(asked);
    return received(answer, route.answer) as Answer<O>;
  }

  /** The begin of an answer that is no JSON. */
  async open<O extends OperationId>(operation: O, given: Given<O> = {}): Promise<{ response: IncomingMessage; asked: Asked }> {
    const asked = this.asked(operation, given);
    return { response: await this.connection.open(asked), asked };
  }

  /** What is asked, as soon as a server answers: one that is away is asked again for ten minutes. */
  async patiently<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const pauses = new Pauses();
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof SandboxUnavailableError) || error.reason === CLOSED) throw error;
        if (pauses.areOver) {
          const said = `${error.message} (it was tried for ${pauses.awaySeconds} seconds)`;
          throw new SandboxUnavailableError(said, { step: error.step, reason: error.reason, cause: error });
        }
        await sleep(pauses.step(), signal);
      }
    }
  }

  /** The thing when it has ended. It is asked for by its id: another one may be the newest of its name by then. */
  async ended<T extends { id: string }>(
    first: () => Promise<T>,
    waiting: (id: string) => Promise<T>,
    isOver: (found: T) => boolean,
    signal?: AbortSignal,
  ): Promise<T> {
    let found = await this.patiently(first, signal);
    const { id } = found;
    while (!isOver(found)) found = await this.patiently(() => waiting(id), signal);
    return found;
  }

  /** The request of an operation. */
  asked<O extends OperationId>(operation: O, given: Given<O>): Asked {
    const route: Route = routes[operation];
    const steps = (given.path ?? {}) as Readonly<Record<string, unknown>>;
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => step(String(steps[name])));
    const query: Record<string, unknown> = {};
    for (const [name, value] of Object.entries((given.query ?? {}))) query[toSnake(name)] = value;
    const headers: Record<string, string> = {};
    if (route.creates) headers['idempotency-key'] = given.idempotencyKey ?? randomUUID();
    let body = given.bytes;
    if (body !== undefined) headers['content-type'] = given.contentType ?? 'application/octet-stream';
    if (given.body !== undefined) {
      body = Buffer.from(writeJson(sent(given.body, route.body), route.body ?? 'body'));
      headers['content-type'] = 'application/json';
    }
    return { method: route.method, path, query: query as Query, headers, body, signal: given.signal };
  }

  async #twice(asked: Asked): Promise<unknown> {
    try {
      return await this.#answer(asked);
    } catch (error) {
      if (!(error instanceof PlatformError) || error.reason !== CONNECTION_LOST) throw error;
      if (asked.body !== undefined && !(asked.body instanceof Uint8Array) && typeof asked.body !== 'function') throw error;
      return await this.#answer(asked);
    }
  }

  async #answer(asked: Asked): Promise<unknown> {
    return await this.connection.json(asked);
  }
}

/** A name as one step of a path. Servers read %2F as a slash, so a slash is quoted twice. */
function step(name: string): string {
  return encodeURIComponent(name).replaceAll('%2F', '%252F').replace(/^\.{1,2}$/, (dots) => dots.replaceAll('.', '%2E'));
}
