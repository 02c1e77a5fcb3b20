// A real `harena serve` with keys, on loopback, of a home of its own; started before the tests and ended after them.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    baseUrl: string;
    /** A key with all scopes, one that may only look. */
    apiKey: string;
    readKey: string;
    python: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Served {
  baseUrl: string;
  apiKey: string;
  readKey: string;
  python: string;
  stop: () => Promise<void>;
}

/** Start one. `HARENA_SERVER_PYTHON` names a Python that has harena; the repository's environment where nothing is said. */
export async function serve(): Promise<Served> {
  const python = process.env['HARENA_SERVER_PYTHON'] ?? join(ROOT, '.venv/bin/python');
  if (!existsSync(python)) throw new Error(`${python} does not exist: run \`make setup\`, or set HARENA_SERVER_PYTHON to a Python that has harena`);
  const home = mkdtempSync(join(tmpdir(), 'harena-ts-'));
  const env = { ...process.env, HARENA_HOME: home, HARENA_BASE_URL: '', HARENA_API_KEY: '', HARENA_DATABASE_URL: '' };
  const key = (scopes: string): string => {
    const words = ['-m', 'harena.cli.main', 'keys', 'create', '--name', scopes.replaceAll(',', '-'), '--workspace', 'ts', '--scopes', scopes];
    const made = spawnSync(python, words, { env, encoding: 'utf8' });
    const found = /hk_\S+/.exec(made.stdout);
    if (!found) throw new Error(`no key was made: ${made.stdout}${made.stderr}`);
    return found[0];
  };
  const [apiKey, readKey] = [key('read,write,admin'), key('read')];
  const server = spawn(python, ['-m', 'harena.cli.main', 'serve', '--port', '0', '--drain', '1'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(server, 'exit');
  const log: string[] = [];
  const baseUrl = await new Promise<string>((resolve, reject) => {
    createInterface(server.stderr).on('line', (line) => {
      log.push(line);
      const said = line.startsWith('{') ? (JSON.parse(line) as { event?: string; url?: string }) : {};
      if (said.event === 'listening' && said.url) resolve(said.url);
    });
    void ended.then(() => reject(new Error(`harena serve has ended:\n${log.join('\n')}`)));
  });
  return {
    baseUrl,
    apiKey,
    readKey,
    python,
    stop: async () => {
      server.kill('SIGTERM');
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { stop, ...served } = await serve();
  for (const [name, value] of Object.entries(served)) project.provide(name as keyof typeof served, value);
  return stop;
}
