import { expect, test } from 'vitest';

import {
  SandboxCommandTimeoutError,
  SandboxExecutionError,
  SandboxFileError,
  SandboxNotFoundError,
  SandboxTerminatedError,
} from '../src/index.js';
import { client } from './client.js';

const harena = client();

test('a command runs, and what it did is data', async () => {
  await using sandbox = await harena.sandboxes.create({ tags: ['a-command'], env: { GREETING: 'hello_world' } });
  expect(sandbox.status).toBe('running');
  const right = await sandbox.exec(['python3', '-c', 'import os; print(os.environ["GREETING"], os.environ["MORE"])'], { env: { MORE: '1' } });
  expect(right).toMatchObject({ outcome: 'exited', returncode: 0, stdout: 'hello_world 1\n', stderr: '', stdoutTruncated: false });
  expect(right.usage.userSeconds).toBeGreaterThanOrEqual(0);
  const wrong = await sandbox.exec(['sh', '-c', 'echo no >&2; exit 3']);
  expect(wrong).toMatchObject({ returncode: 3, stderr: 'no\n' });
});

test('a failure is an error where its success was asked for', async () => {
  await using sandbox = await harena.sandboxes.create();
  const failed = await sandbox.exec(['sh', '-c', 'echo why >&2; exit 3'], { check: true }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(SandboxExecutionError);
  expect((failed as SandboxExecutionError).message).toContain('ended with 3 and check was asked for:\nwhy');
  expect((failed as SandboxExecutionError).result?.returncode).toBe(3);
});

test('a time-out kills a command and tells what it had written', async () => {
  await using sandbox = await harena.sandboxes.create();
  const late = await sandbox.exec(['sh', '-c', 'echo begun; sleep 60'], { timeoutSeconds: 0.3 }).catch((error: unknown) => error);
  expect(late).toBeInstanceOf(SandboxCommandTimeoutError);
  expect((late as SandboxCommandTimeoutError).result).toMatchObject({ stdout: 'begun\n', outcome: 'timeout' });
});

test('output is streamed while the command runs', async () => {
  await using sandbox = await harena.sandboxes.create();
  const process = await sandbox.start(['sh', '-c', 'echo one; read line; echo $line'], { stdin: true });
  const lines = process.stdout.lines();
  expect((await lines.next()).value).toBe('one'); // it waits for its input now
  await process.stdin?.write('tw\u00f6\n');
  expect((await lines.next()).value).toBe('tw\u00f6');
  expect((await process.result()).stdout).toBe('one\ntw\u00f6\n');
  const told: string[] = [];
  await sandbox.exec(['sh', '-c', 'echo a; echo b >&2'], { onStdout: (text) => told.push(text), onStderr: (text) => told.push(text) });
  expect(told.sort()).toEqual(['a\n', 'b\n']);
});

test('input is sent at once, however long it is', async () => {
  await using sandbox = await harena.sandboxes.create();
  const short = await sandbox.exec(['cat'], { stdin: 'hello' });
  expect(short.stdout).toBe('hello');
  const long = await sandbox.exec(['wc', '-c'], { stdin: Buffer.alloc(9 * 1024 * 1024, 'x') });
  expect(long.stdout.trim()).toBe(String(9 * 1024 * 1024));
});

test('output arrives whole, whatever its bytes are', async () => {
  await using sandbox = await harena.sandboxes.create();
  const bytes = await sandbox.exec(['python3', '-c', 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 8192)']);
  expect(Buffer.from(bytes.stdoutBytes).equals(Buffer.concat(Array.from({ length: 8192 }, () => Buffer.from(Array.from({ length: 256 }, (_, i) => i)))))).toBe(true);
});

test('a process is killed, and says so', async () => {
  await using sandbox = await harena.sandboxes.create();
  const process = await sandbox.start(['sleep', '60']);
  const running = await sandbox.processes();
  expect(running.some((each) => each.command.includes('sleep') && each.parentPid >= 0)).toBe(true);
  await process.kill();
  expect((await process.result()).outcome).toBe('cancelled');
  const other = await sandbox.start(['sleep', '60']);
  const found = (await sandbox.processes()).find((each) => each.command.includes('sleep'));
  await sandbox.kill(found?.pid ?? -1, 15);
  expect((await other.result()).returncode).toBe(-15);
});

test('it tells what it uses, and what its commands printed', async () => {
  await using sandbox = await harena.sandboxes.create();
  await sandbox.exec(['python3', '-c', 'print(6 * 7); raise SystemExit(3)']);
  const [command] = await sandbox.outputs();
  expect([command?.command, command?.outcome, command?.returncode, command?.stdout]).toEqual(
    ['python3 -c print(6 * 7); raise SystemExit(3)', 'exited', 3, '42\n']);
  expect((await sandbox.usage()).memoryBytes).toBeGreaterThan(0);
});

test('a signal ends a command, and its caller gets the reason', async () => {
  await using sandbox = await harena.sandboxes.create();
  const controller = new AbortController();
  const process = await sandbox.start(['sleep', '60'], { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(process.result()).rejects.toThrow('enough');
  await expect.poll(async () => (await sandbox.processes()).some((each) => each.command.includes('sleep'))).toBe(false);
});

test('a shell has a terminal', async () => {
  await using sandbox = await harena.sandboxes.create();
  await using shell = await sandbox.shell(['/bin/sh'], { columns: 100, rows: 30 });
  await shell.stdin.write('stty size; exit 4\n');
  const result = await shell.result();
  expect(result.stdout).toContain('30 100');
  expect(result.returncode).toBe(4);
});

test('files are written, read, listed and removed', async () => {
  await using sandbox = await harena.sandboxes.create({ files: { '/workspace/given.txt': 'given' } });
  const { files } = sandbox;
  expect(await files.readText('/workspace/given.txt')).toBe('given');
  await files.write('/workspace/a/b.bin', Buffer.from([0, 255, 10]), { mode: 0o600 });
  await files.append('/workspace/a/b.bin', Buffer.from([1]));
  expect([...(await files.read('/workspace/a/b.bin'))]).toEqual([0, 255, 10, 1]);
  expect(await files.stat('/workspace/a/b.bin')).toMatchObject({ kind: 'file', sizeBytes: 4, mode: 0o600 });
  await files.write('/workspace/streamed', (async function* () {
    for (let piece = 0; piece < 100; piece++) yield Buffer.alloc(10_000, piece);
  })());
  expect((await files.read('/workspace/streamed')).length).toBe(1_000_000);
  expect((await files.list('/workspace')).map((each) => each.name)).toEqual(['a', 'given.txt', 'streamed']);
  await files.mkdir('/workspace/x/y', { parents: true });
  await files.remove('/workspace/x', { recursive: true });
  expect(await files.exists('/workspace/x')).toBe(false);
  await sandbox.files.extract('/workspace/copy', sandbox.files.archive('/workspace/a'));
  expect((await files.list('/workspace/copy')).map((each) => each.name)).toEqual(['b.bin']);
});

test('a file that is not there is an error with its path', async () => {
  await using sandbox = await harena.sandboxes.create();
  const missing = await sandbox.files.read('/workspace/none').catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(SandboxFileError);
  expect(missing).toMatchObject({ reason: 'NOT_FOUND', path: '/workspace/none', status: 404 });
});

test('what a caller throws while it gives a body is what it gets', async () => {
  await using sandbox = await harena.sandboxes.create();
  const body = (async function* () {
    yield Buffer.from('begun');
    throw new Error('the source broke');
  })();
  await expect(sandbox.files.write('/workspace/x', body)).rejects.toThrow('the source broke');
});

test('a sandbox that has ended says so', async () => {
  const sandbox = await harena.sandboxes.create({ tags: ['ended'] });
  expect((await harena.sandboxes.list({ tags: ['ended'] }).all()).map((each) => each.id)).toEqual([sandbox.id]);
  const again = await harena.sandboxes.get(sandbox.id);
  expect(again.info).toMatchObject({ id: sandbox.id, tags: ['ended'] });
  await sandbox.stop();
  await sandbox.stop();
  expect((await again.wait()).status).toBe('completed');
  await expect(sandbox.exec(['true'])).rejects.toBeInstanceOf(SandboxTerminatedError);
  await expect(harena.sandboxes.get('sb_none')).rejects.toBeInstanceOf(SandboxNotFoundError);
  expect(await harena.sandboxes.list({ tags: ['ended'] }).all()).toEqual([]);
});

test('limits and network are given by the names of this language', async () => {
  await using sandbox = await harena.sandboxes.create({ limits: { memoryBytes: 256 * 1024 * 1024, pids: 16 }, network: 'none' });
  expect(sandbox.info.limits).toMatchObject({ memoryBytes: 256 * 1024 * 1024, pids: 16 });
  const extended = await sandbox.extendLifetime(120);
  expect(new Date(extended.expiresAt ?? 0).getTime()).toBeGreaterThan(Date.now() + 60_000);
});

test('many sandboxes are made at one time', async () => {
  const sandboxes = await harena.sandboxes.createMany(10, { tags: ['many'] });
  const results = await Promise.all(sandboxes.map((each, index) => each.exec(['echo', String(index)])));
  expect(results.map((each) => each.stdout)).toEqual(Array.from({ length: 10 }, (_, index) => `${index}\n`));
  await Promise.all(sandboxes.map((each) => each.stop()));
});

test('sandboxes end with their client, unless they are detached', async () => {
  const other = client();
  await other.sandboxes.create({ tags: ['of-another'] });
  const detached = await other.sandboxes.create({ tags: ['of-another'], detached: true });
  await other.close();
  await other.close();
  expect((await harena.sandboxes.list({ tags: ['of-another'] }).all()).map((each) => each.id)).toEqual([detached.id]);
  await (await harena.sandboxes.get(detached.id)).stop();
});

test('a callback that fails ends its command', async () => {
  await using sandbox = await harena.sandboxes.create();
  const failing = sandbox.exec(['sh', '-c', 'echo begun; exec sleep 60'], {
    onStdout: () => {
      throw new Error('no more');
    },
  });
  await expect(failing).rejects.toThrow('no more');
  await expect.poll(async () => (await sandbox.processes()).some((each) => each.command.includes('sleep'))).toBe(false);
});
