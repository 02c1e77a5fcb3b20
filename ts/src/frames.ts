// Frames: how a command's output travels. One byte of kind, four bytes of length (big-endian), the content.
import type { Pieces } from './connection.js';

export const STARTED = 1;
export const STDOUT = 2;
export const STDERR = 3;
export const RESULT = 4;
export const PROBLEM = 5;

const HEAD_BYTES = 5;
/** Largest content of a frame that carries output; longer input is sent in such pieces, too. */
export const MOST_BYTES = 1024 * 1024;
const MOST_JSON_BYTES = 16 * 1024 * 1024;

export interface Frame {
  kind: number;
  content: Buffer;
}

/** What was sent is no frame, or ends before one does. */
export class FrameError extends Error {}

/** The frames of a stream, wherever it was cut into pieces. Throws FrameError. */
export async function* readFrames(pieces: Pieces): AsyncGenerator<Frame, void, undefined> {
  let held: Buffer[] = [];
  let length = 0;
  let need = HEAD_BYTES;
  for await (const piece of pieces) {
    held.push(piece as Buffer);
    length += piece.length;
    while (length >= need) {
      const whole = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held);
      const kind = whole[0] as number;
      const size = whole.readUInt32BE(1);
      if (kind < STARTED || kind > PROBLEM) throw new FrameError(`a command's output holds an unknown frame (${kind})`);
      const most = kind === STDOUT || kind === STDERR ? MOST_BYTES : MOST_JSON_BYTES;
      if (size > most) throw new FrameError(`a frame of ${size} bytes is too large`);
      const end = HEAD_BYTES + size;
      if (whole.length < end) {
        held = [whole];
        need = end;
        break;
      }
      yield { kind, content: whole.subarray(HEAD_BYTES, end) };
      const rest = whole.subarray(end);
      held = rest.length > 0 ? [rest] : [];
      length = rest.length;
      need = HEAD_BYTES;
    }
  }
  if (length > 0) throw new FrameError("a command's output broke off inside a frame");
}
