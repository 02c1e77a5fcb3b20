// A command's output: kept as it arrives, read by any number of readers.

/** One stream of a command. Iterating gives text as it comes (pieces, not lines), from the begin, also after the end. */
export class Output implements AsyncIterable<string> {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;
  #closed = false;
  #waiting: (() => void)[] = [];

  /** Bytes that have come so far. */
  get length(): number {
    return this.#length;
  }

  /** The output as bytes, as they come. */
  async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let next = 0; ; next++) {
      while (next >= this.#pieces.length) {
        if (this.#closed) return;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
      yield this.#pieces[next] as Uint8Array;
    }
  }

  /** The output as text, as it comes; a character that is cut arrives whole. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    const decoder = new TextDecoder();
    for await (const piece of this.bytes()) {
      const text = decoder.decode(piece, { stream: true });
      if (text) yield text;
    }
    const rest = decoder.decode();
    if (rest) yield rest;
  }

  /** The output line by line, without the ends of lines. */
  async *lines(): AsyncGenerator<string, void, undefined> {
    let rest = '';
    for await (const text of this) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() as string;
      yield* lines;
    }
    if (rest) yield rest;
  }

  /** All that has come so far. */
  content(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  /** @internal */
  append(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
    this.#wake();
  }

  /** @internal */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) each();
  }
}
