// Scenarios as they are given. They are data: their fields have the names of scenario files (docs/reference/scenario.md).
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';

import type { Pieces } from './connection.js';
import { writeJson } from './json.js';

/** One scenario, or a row of a data set; its fields are those of scenario files. */
export type Scenario = Readonly<Record<string, unknown>>;

/**
 * Scenarios: a list or any iterable of them; the path of a scenario file (.yaml, .json, .jsonl) on this machine; the
 * content of such a file; stored ones (`{ ref: 'NAME@2' }`); or a whole document (`{ problems: [...] }`).
 */
export type ScenarioInput =
  | Iterable<Scenario>
  | AsyncIterable<Scenario>
  | string
  | { readonly fileName: string; readonly text: string }
  | { readonly ref: string }
  | Readonly<Record<string, unknown>>;

/** Lines of JSON that are sent one after the other, as often as they are asked for. */
export interface Lines {
  count: number;
  fileName?: string;
  pieces: () => Pieces;
}

/** What a request holds in the place of scenarios, or lines that follow it. */
export async function readInput(given: ScenarioInput, place: string): Promise<{ content: unknown } | { lines: Lines }> {
  check(given, place);
  if (typeof given === 'string') return await fromFile(given);
  if (Symbol.iterator in given || Symbol.asyncIterator in given) return { lines: await rows(given, place) };
  const fields = given as Readonly<Record<string, unknown>>;
  if (typeof fields['fileName'] === 'string' && typeof fields['text'] === 'string') {
    return { content: { file_name: fields['fileName'], text: fields['text'] } };
  }
  // what `scenarios.get` gives stands for what is stored under its reference
  if (typeof fields['ref'] === 'string' && typeof fields['digest'] === 'string') return { content: { ref: fields['ref'] } };
  return { content: given };
}

/** As `readInput`, where a request cannot be followed by lines. */
export async function readContent(given: ScenarioInput, place: string): Promise<unknown> {
  check(given, place);
  if (typeof given === 'string') return { file_name: basename(given), text: await readFile(given, 'utf8') };
  if (Symbol.iterator in given || Symbol.asyncIterator in given) {
    const found: Scenario[] = [];
    for await (const each of given as AsyncIterable<Scenario>) found.push(each);
    return found;
  }
  const read = await readInput(given, place);
  return 'content' in read ? read.content : undefined;
}

function check(given: unknown, place: string): void {
  if (typeof given === 'string' || (typeof given === 'object' && given !== null)) return;
  throw new TypeError(`${place} must be a list of scenarios, the path of a scenario file, or a document (got ${String(given)})`);
}

async function fromFile(path: string): Promise<{ content: unknown } | { lines: Lines }> {
  const fileName = basename(path);
  if (!['.jsonl', '.ndjson'].includes(extname(path).toLowerCase())) {
    return { content: { file_name: fileName, text: await readFile(path, 'utf8') } };
  }
  let count = 0;
  let last = 10;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const byte of piece) if (byte === 10) count += 1;
    last = piece[piece.length - 1] ?? last;
  }
  const cut = last !== 10;
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    yield* createReadStream(path) as AsyncIterable<Buffer>;
    if (cut) yield Buffer.from('\n');
  };
  return { lines: { count: cut ? count + 1 : count, fileName, pieces } };
}

async function rows(given: Iterable<Scenario> | AsyncIterable<Scenario>, place: string): Promise<Lines> {
  const written: string[] = [];
  for await (const each of given as AsyncIterable<Scenario>) written.push(`${writeJson(each, `${place}[${written.length}]`)}\n`);
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (let start = 0; start < written.length; start += 100) yield Buffer.from(written.slice(start, start + 100).join(''));
  };
  return { count: written.length, pieces };
}
