// Trees of files as they travel: a tar stream, and the digest that a tree is known by.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

const BLOCK = 512;
/** What fits into the header of a member; larger numbers and longer names travel in a record before it. */
const MOST_OCTAL = 0o77777777777;

export interface TreeFile {
  /** Below the tree, with slashes. */
  name: string;
  path: string;
  bytes: number;
  executable: boolean;
}

/** The files below a directory in the order of their names; of a file, that file alone. */
export async function filesOf(place: string): Promise<TreeFile[]> {
  const about = await stat(place);
  if (about.isFile()) return [fileOf(basename(place), place, about)];
  const found: TreeFile[] = [];
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await readdir(join(place, folder))) {
      const name = `${folder}${entry}`;
      const path = join(place, name);
      const each = await stat(path);
      if (each.isDirectory()) waiting.push(`${name}/`);
      else if (each.isFile()) found.push(fileOf(name, path, each));
      else throw new TypeError(`${path} is neither a file nor a directory: leave it out`);
    }
  }
  if (found.length === 0) throw new TypeError(`${place} has no files`);
  return found.sort((a, b) => compared(a.name, b.name));
}

/** sha256 over names, contents and what may be executed, in hexadecimal digits. Reads every file. */
export async function digestOf(files: readonly TreeFile[]): Promise<string> {
  const whole = createHash('sha256');
  for (const file of files) {
    const content = createHash('sha256');
    for await (const piece of createReadStream(file.path) as AsyncIterable<Buffer>) content.update(piece);
    const characters = [...file.name].length;
    whole.update(`${content.digest('hex')} ${file.executable ? 'x' : '-'} ${characters} ${file.name}\n`);
  }
  return whole.digest('hex');
}

/** A tar stream of them. */
export async function* packed(files: readonly TreeFile[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const file of files) {
    const records: Record<string, string> = {};
    if (Buffer.byteLength(file.name) > 100) records['path'] = file.name;
    if (file.bytes > MOST_OCTAL) records['size'] = String(file.bytes);
    if (Object.keys(records).length > 0) {
      const extended = Buffer.from(Object.entries(records).map(paxRecord).join(''));
      yield header('harena', extended.length, 0o644, 'x');
      yield extended;
      yield padding(extended.length);
    }
    yield header(file.name, Math.min(file.bytes, MOST_OCTAL), file.executable ? 0o755 : 0o644, '0');
    let left = file.bytes;
    for await (const piece of createReadStream(file.path) as AsyncIterable<Buffer>) {
      left -= piece.length;
      yield piece;
    }
    if (left !== 0) throw new TypeError(`${file.path} changed its size while it was read: send it again when nobody writes it`);
    yield padding(file.bytes);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function fileOf(name: string, path: string, about: { size: number; mode: number }): TreeFile {
  return { name, path, bytes: about.size, executable: (about.mode & 0o100) !== 0 };
}

/** By their characters and not by halves of surrogate pairs, as a server compares them. */
function compared(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function padding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);
}

/** `LENGTH name=value\n`, where the length counts its own digits. */
function paxRecord([name, value]: [string, string]): string {
  const rest = ` ${name}=${value}\n`;
  let length = Buffer.byteLength(rest);
  length += String(length + String(length).length).length;
  return `${length}${rest}`;
}

function header(name: string, size: number, mode: number, type: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  Buffer.from(name).copy(block, 0, 0, 100);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
