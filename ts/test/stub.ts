// A server that says what a test wants it to say, for what a good server never does.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Harena } from '../src/index.js';

export interface Heard {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Answering = (heard: Heard, response: ServerResponse, number: number) => void;

/** A client of a server that answers so, and the requests that it has heard. */
export async function stub(answering: Answering): Promise<{ harena: Harena; heard: Heard[] } & AsyncDisposable> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const piece of request) body += String(piece);
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      heard.push(one);
      answering(one, response, heard.length);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const harena = new Harena({ baseUrl: `http://127.0.0.1:${port}/`, apiKey: 'hk_secret' });
  return {
    harena,
    heard,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await harena.close().catch(() => undefined);
    },
  };
}

/** Answer with JSON. */
export function json(response: ServerResponse, status: number, content: unknown): void {
  const kind = status < 400 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': kind }).end(JSON.stringify(content));
}

/** A problem as a server writes it. */
export function problem(status: number, code: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: 'about:blank', title: code, status, detail: `${code} was said`, code, ...more };
}
