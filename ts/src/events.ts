// Server-sent events, as far as harena's server writes them: `id`, `event` and one line of JSON as `data`.
import type { Calls, Given, OperationId } from './calls.js';
import type { Pieces } from './connection.js';
import { errorOf, SandboxUnavailableError } from './errors.js';
import { received } from './naming.js';
import { Pauses, sleep } from './retry.js';

const MOST_LINE_BYTES = 64 * 1024 * 1024;
const LINE_END = 10;

/** Kind and data of each event in these pieces of a stream, wherever they were cut; comments are left out. */
export async function* readEvents(pieces: Pieces): AsyncGenerator<{ kind: string; data: unknown }, void, undefined> {
  let kind = 'message';
  let written = '';
  let rest: Uint8Array[] = [];
  let held = 0;
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, start)) {
      rest.push(piece.subarray(start, end));
      start = end + 1;
      const line = Buffer.concat(rest).toString('utf8');
      rest = [];
      held = 0;
      if (line.startsWith('data:')) written += line.slice(5).trim();
      else if (line.startsWith('event:')) kind = line.slice(6).trim();
      else if (written && !line.trim()) {
        yield { kind, data: JSON.parse(written) as unknown };
        kind = 'message';
        written = '';
      }
    }
    rest.push(piece.subarray(start));
    held += piece.length - start;
    if (held > MOST_LINE_BYTES) throw new SyntaxError(`a line of more than ${MOST_LINE_BYTES} bytes`);
  }
}

/**
 * The events of a stream, from the first after cursor `after` to its end. A connection that breaks off is opened again
 * where it ended, once without any news; a stream that ends before the job does, as that of a server that stops, is
 * opened again after pauses that grow, for ten minutes without news.
 */
export async function* follow<T extends { cursor: number }, O extends OperationId>(
  calls: Calls,
  operation: O,
  path: Given<O>['path'],
  record: string,
  options: { after?: number; signal?: AbortSignal } = {},
): AsyncGenerator<T, void, undefined> {
  const { signal } = options;
  let cursor = options.after ?? 0;
  let failed = false;
  const pauses = new Pauses();
  for (;;) {
    try {
      const query = { after: cursor } as Given<O>['query'];
      const { response, asked } = await calls.open(operation, { path, query, signal });
      try {
        for await (const { kind, data } of readEvents(calls.connection.pieces(response, asked))) {
          if (kind === 'end') return;
          if (kind === 'problem') throw errorOf(data as Record<string, unknown>);
          const event = received(data, record) as T;
          if (!(event.cursor > cursor)) throw calls.connection.broken('events come again');
          cursor = event.cursor;
          failed = false;
          pauses.reset();
          yield event;
        }
      } catch (error) {
        throw error instanceof SyntaxError ? calls.connection.broken(`an event cannot be understood (${error.message})`) : error;
      } finally {
        response.destroy();
      }
    } catch (error) {
      if (!(error instanceof SandboxUnavailableError) || failed) throw error;
      failed = true;
      continue;
    }
    if (pauses.areOver) {
      throw calls.connection.broken(`the events of a job end without the job's end, for ${pauses.awaySeconds} seconds`);
    }
    await sleep(pauses.step(), signal);
  }
}
