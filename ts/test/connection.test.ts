import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import {
  AccessError,
  Harena,
  HarenaError,
  LimitExceededError,
  NotFoundError,
  PlatformError,
  SandboxStartError,
  SandboxUnavailableError,
  SandboxValidationError,
  ValidationError,
} from '../src/index.js';
import { client } from './client.js';
import { json, problem, stub } from './stub.js';

const BLUEPRINT = { id: 'bp_1', name: 'mine', packages: [], env: { KEPT_KEY: '1' } };

test('a server refuses an unknown key, and a key without the scope', async () => {
  await expect(client('hk_nobody').blueprints.get('python')).rejects.toBeInstanceOf(AccessError);
  const harena = client('');
  expect((await harena.health()).status).toBe('ok');
});

test('a rate that is exceeded is waited for, whatever is asked', async () => {
  await using served = await stub((_, response, number) => {
    if (number < 3) json(response, 429, problem(429, 'limit_exceeded', { reason: 'REQUEST_RATE', retry_after_seconds: 0 }));
    else json(response, 200, { scenario_id: 'candidate', score: 1 });
  });
  expect(await served.harena.score('x = 1', { type: 'tests' })).toMatchObject({ scenarioId: 'candidate', score: 1 });
  expect(served.heard.length).toBe(3);
});

test('room in a workspace is not waited for', async () => {
  await using served = await stub((_, response) => {
    json(response, 429, problem(429, 'limit_exceeded', { reason: 'SANDBOXES', retry_after_seconds: 1, metadata: { most: 3 } }));
  });
  const refused = await served.harena.blueprints.get('x').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(LimitExceededError);
  expect(refused).toMatchObject({ reason: 'SANDBOXES', retryAfterSeconds: 1, status: 429, metadata: { most: '3' } });
  expect(served.heard.length).toBe(1);
});

test('a server that is about to stop is asked again where twice is once', async () => {
  await using served = await stub((heard, response, number) => {
    if (number === 1) json(response, 503, problem(503, 'platform', { reason: 'STORE_UNAVAILABLE', retry_after_seconds: 0 }));
    else if (heard.method === 'GET') json(response, 200, BLUEPRINT);
    else json(response, 503, problem(503, 'platform', { retry_after_seconds: 0 }));
  });
  expect((await served.harena.blueprints.get('mine')).env).toEqual({ KEPT_KEY: '1' });
  await expect(served.harena.score('x = 1', {})).rejects.toBeInstanceOf(PlatformError);
  expect(served.heard.map((each) => each.method)).toEqual(['GET', 'GET', 'POST']);
});

test('a creation whose answer was lost is asked for again with its key', async () => {
  await using served = await stub((_, response, number) => {
    if (number === 1) response.destroy();
    else json(response, 201, BLUEPRINT);
  });
  expect((await served.harena.blueprints.create('mine', { packages: ['numpy'] })).id).toBe('bp_1');
  const keys = served.heard.map((each) => each.headers['idempotency-key']);
  expect(keys).toEqual([keys[0], keys[0]]);
  expect(keys[0]).toBeTruthy();
  expect(served.heard[1]?.body).toBe(served.heard[0]?.body);
});

test('what is no creation is not asked for twice', async () => {
  await using served = await stub((_, response) => void response.destroy());
  const lost = await served.harena.score('x = 1', {}).catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(SandboxUnavailableError);
  expect(lost).toBeInstanceOf(PlatformError);
  expect(lost).toMatchObject({ reason: 'CONNECTION_LOST', isPlatformFailure: true });
  expect(served.heard.length).toBe(1);
});

test('a creation that was given up after it was sent is ended', async () => {
  const controller = new AbortController();
  await using served = await stub((heard, response) => {
    if (heard.url === '/v1/leases') json(response, 201, { id: 'ls_1', seconds: 60, expires_at: '' });
    else if (heard.url.endsWith('/stop')) json(response, 200, { id: 'sb_1', status: 'completed' });
    else if (controller.signal.aborted) json(response, 201, { id: 'sb_1', status: 'running' });
    else controller.abort(new Error('given up'));
  });
  await expect(served.harena.sandboxes.create({ signal: controller.signal })).rejects.toThrow('given up');
  await expect.poll(() => served.heard.map((each) => each.url)).toEqual(['/v1/leases', '/v1/sandboxes', '/v1/sandboxes', '/v1/sandboxes/sb_1/stop']);
  expect(served.heard[2]?.headers['idempotency-key']).toBe(served.heard[1]?.headers['idempotency-key']);
});

test('a lease that is over is followed by another one', async () => {
  let leases = 0;
  await using served = await stub((heard, response) => {
    if (heard.url === '/v1/leases') json(response, 201, { id: `ls_${(leases += 1)}`, seconds: 60, expires_at: '' });
    else if (heard.method === 'DELETE') response.writeHead(204).end();
    else if (heard.body.includes('ls_1')) json(response, 404, problem(404, 'not_found', { reason: 'LEASE_OVER' }));
    else json(response, 201, { id: 'sb_1', status: 'running', status_reason: null });
  });
  expect((await served.harena.sandboxes.create()).info).toEqual({ id: 'sb_1', status: 'running', statusReason: null });
  await served.harena.close();
  expect(served.heard.at(-1)).toMatchObject({ method: 'DELETE', url: '/v1/leases/ls_2' });
});

test('a server that is not there is named, with what to do', async () => {
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const harena = new Harena({ baseUrl: `http://127.0.0.1:${port}` });
  const error = await harena.health().catch((each: unknown) => each);
  expect(error).toBeInstanceOf(SandboxUnavailableError);
  expect((error as HarenaError).message).toMatch(/^no server answers at .*: start one with `harena serve`, or set HARENA_BASE_URL/);
  expect((error as HarenaError).reason).toBe('SERVER_UNREACHABLE');
  await harena.close();
  await expect(harena.health()).rejects.toMatchObject({ reason: 'CLOSED' });
});

test('an answer that is none is a fault of the platform', async () => {
  await using served = await stub((heard, response) => {
    if (heard.url.endsWith('/html')) response.writeHead(502, { 'retry-after': 'x' }).end('<html>');
    else if (heard.url.endsWith('/moved')) response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    else if (heard.url.endsWith('/new')) json(response, 418, problem(418, 'teapot'));
    else response.end('{"id"');
  });
  const { blueprints } = served.harena;
  await expect(blueprints.get('html')).rejects.toThrow('the server answered 502: something that is no harena server says "<html>"');
  await expect(blueprints.get('moved')).rejects.toThrow('the server answered 302');
  await expect(blueprints.get('new')).rejects.toThrow('the server answered 418: teapot was said');
  await expect(blueprints.get('cut')).rejects.toMatchObject({ reason: 'BROKEN_ANSWER' });
  for (const name of ['html', 'moved', 'new', 'cut']) await expect(blueprints.get(name)).rejects.toBeInstanceOf(PlatformError);
  expect(JSON.stringify(await blueprints.get('cut').catch(String))).not.toContain('hk_secret');
});

test('names are one step of a path', async () => {
  await using served = await stub((_, response) => json(response, 200, BLUEPRINT));
  for (const name of ['a b', 'a/b', '..', 'ö?x=1#']) await served.harena.blueprints.get(name);
  expect(served.heard.map((each) => each.url)).toEqual(['a%20b', 'a%252Fb', '%2E%2E', '%C3%B6%3Fx%3D1%23'].map((step) => `/v1/blueprints/${step}`));
});

test('a signal ends a request that is under way', async () => {
  const controller = new AbortController();
  await using served = await stub(() => controller.abort(new Error('enough')));
  await expect(served.harena.blueprints.get('x', { signal: controller.signal })).rejects.toThrow('enough');
  await expect(served.harena.blueprints.get('x', { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
  expect(served.heard.length).toBe(1);
});

test('errors are what their names say', () => {
  const start = new SandboxStartError('x');
  expect([start instanceof PlatformError, start instanceof HarenaError, start instanceof NotFoundError]).toEqual([true, true, false]);
  expect(new SandboxValidationError('x')).toBeInstanceOf(ValidationError);
  expect(new ValidationError('x')).not.toBeInstanceOf(SandboxValidationError);
  expect(new ValidationError('x')).not.toBeInstanceOf(PlatformError);
  expect(new PlatformError('x')).not.toBeInstanceOf(SandboxStartError);
  expect(start.name).toBe('SandboxStartError');
  expect(null as unknown instanceof PlatformError).toBe(false);
});
