import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { type BenchmarkEvent, float, type Harena, NotFoundError, ValidationError } from '../src/index.js';
import { client } from './client.js';
import { json, problem, stub } from './stub.js';

const harena: Harena = client();

const DOUBLE = { type: 'tests', entry_point: 'double', checks: [{ args: [4], expected: 8 }, { args: ['ab'], expected: 'abab' }] };
const ANSWERS = {
  right: 'def double(x):\n    return x * 2\n',
  wrong: 'def double(x):\n    return x + 2\n',
  cheat: 'import os\nos._exit(0)\n',
};
const SCENARIOS = Object.entries(ANSWERS).map(([id, candidate]) => ({ id, candidate, scoring: DOUBLE, metadata: { my_key: id } }));
const SCORES = { right: 1, wrong: 0, cheat: 0 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'harena-ts-jobs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('one candidate is scored at once', async () => {
  const result = await harena.score(ANSWERS.right, DOUBLE, { blueprintId: 'python-warm', timeoutSeconds: 20 });
  expect(result).toMatchObject({ scenarioId: 'candidate', score: 1, passed: true, validity: 'valid', trust: 'separate', checksRun: 2 });
  expect((await harena.score(ANSWERS.cheat, DOUBLE)).score).toBe(0);
});

test('a whole float is expected as the float that it is', async () => {
  const scoring = (expected: unknown) => ({ type: 'tests', entry_point: 'half', checks: [{ args: [4], expected }] });
  expect((await harena.score('def half(x):\n    return x / 2\n', scoring(float(2)))).score).toBe(1);
  expect((await harena.score('def half(x):\n    return x // 2\n', scoring(2))).score).toBe(1);
  expect((await harena.score('def half(x):\n    return x ** 40\n', scoring(4n ** 40n))).score).toBe(1);
});

test('a job is followed by its events, and its results come whole and by page', async () => {
  const blueprint = await harena.blueprints.get('python-warm');
  const job = await harena.benchmarkJobs.create({
    name: 'first-scores',
    scenarios: SCENARIOS,
    blueprintId: blueprint,
    config: { concurrency: 2, timeoutSeconds: 20, retryAttempts: 1 },
  });
  expect(job.config).toMatchObject({ timeoutSeconds: 20, retryAttempts: 1 });
  const events: BenchmarkEvent[] = [];
  for await (const event of harena.benchmarkJobs.events(job)) events.push(event);
  expect(events.map((each) => each.cursor)).toEqual(events.map((_, index) => index + 1));
  expect([events[0]?.kind, events.at(-1)?.kind, events.at(-1)?.state]).toEqual(['job_started', 'job_ended', 'completed']);
  expect(events.filter((each) => each.kind === 'run_finished').map((each) => each.scenarioId).sort()).toEqual(Object.keys(ANSWERS).sort());
  const later: number[] = [];
  for await (const event of harena.benchmarkJobs.events('first-scores', { after: 2 })) later.push(event.cursor);
  expect(later[0]).toBe(3);

  const results = await harena.benchmarkJobs.wait(job.id);
  expect(results.runs.map((each) => [each.scenarioId, each.score])).toEqual(Object.entries(SCORES));
  expect(results.runs[0]?.metadata).toEqual({ my_key: 'right' });
  expect(results.summary).toMatchObject({ total: 3, passed: 1, byReason: expect.any(Object) as object });
  const scores: Record<string, number | null> = {};
  for await (const run of harena.benchmarkJobs.runs(job)) scores[run.scenarioId] = run.score;
  expect(scores).toEqual(SCORES);
  for await (const page of harena.benchmarkJobs.resultsPages(job, { after: 0 })) expect(page).toMatchObject({ jobId: job.id, state: 'completed' });
  expect((await harena.benchmarkJobs.summary(job)).summary.scored).toBe(3);
  expect((await harena.benchmarkJobs.get('first-scores')).progress).toMatchObject({ done: 3, total: 3 });
  const listed = await harena.benchmarkJobs.list({ name: 'first-scores', limit: 1 }).all();
  expect(listed.map((each) => each.id)).toEqual([job.id]);
  await harena.benchmarkJobs.delete(job);
  await expect(harena.benchmarkJobs.get(job.id)).rejects.toBeInstanceOf(NotFoundError);
});

test('the same idempotency key gives the same job', async () => {
  const asked = { name: 'team/once', scenarios: SCENARIOS.slice(0, 1), idempotencyKey: `once-${Date.now()}` };
  const [first, second] = [await harena.benchmarkJobs.create(asked), await harena.benchmarkJobs.create(asked)];
  expect(second.id).toBe(first.id);
  const reused = await harena.benchmarkJobs.create({ ...asked, scenarios: SCENARIOS.slice(1, 2) }).catch((error: unknown) => error);
  expect(reused).toBeInstanceOf(ValidationError);
  expect(reused).toMatchObject({ reason: 'IDEMPOTENCY_KEY_REUSED' });
  expect((await harena.benchmarkJobs.wait('team/once')).jobId).toBe(first.id); // a slash is no step of a path
});

test('scenarios come as files, lines, generators and data sets with answers', async () => {
  const lines = join(folder, 'batch.jsonl');
  await writeFile(lines, SCENARIOS.map((each) => JSON.stringify(each)).join('\n'));
  const whole = join(folder, 'batch.yaml');
  await writeFile(whole, JSON.stringify(SCENARIOS));
  async function* made(): AsyncGenerator<(typeof SCENARIOS)[number]> {
    yield* SCENARIOS;
  }
  const given = [lines, whole, made(), { fileName: 'batch.json', text: JSON.stringify(SCENARIOS) }, { scenarios: SCENARIOS }];
  const jobs = await Promise.all(given.map((scenarios, number) => harena.benchmarkJobs.create({ name: `given-${number}`, scenarios })));
  for (const job of jobs) {
    const { runs } = await harena.benchmarkJobs.wait(job);
    expect(runs.map((each) => [each.scenarioId, each.score])).toEqual(Object.entries(SCORES));
  }
  const problems = [{ task_id: 'HumanEval/0', prompt: 'def one():\n', entry_point: 'one', test: 'def check(f):\n    assert f() == 1\n', canonical_solution: '    return 1\n' }];
  const answered = await harena.benchmarkJobs.create({
    name: 'answered',
    scenarios: problems,
    candidates: [{ task_id: 'HumanEval/0', completion: '    return 1\n' }],
  });
  expect((await harena.benchmarkJobs.wait(answered)).runs.map((each) => each.score)).toEqual([1]);
});

test('every mistake of a request is told, and nothing has run', async () => {
  const config = { timoutSeconds: 3, concurrency: 0 } as Record<string, number>;
  const wrong = await harena.benchmarkJobs.create({ name: 'wrong', scenarios: SCENARIOS, config }).catch((error: unknown) => error);
  expect(wrong).toBeInstanceOf(ValidationError);
  expect((wrong as Error).message).toContain('timout_seconds');
  expect((wrong as Error).message).toContain('concurrency');
  expect(await harena.benchmarkJobs.list({ name: 'wrong' }).all()).toEqual([]);
});

test('scenarios and contracts are kept by name and version', async () => {
  const contract = await harena.scoringContracts.create('doubling', DOUBLE, { metadata: { for_whom: 'us' } });
  expect(contract).toMatchObject({ name: 'doubling', version: 1, trust: 'separate', metadata: { for_whom: 'us' } });
  expect((await harena.scoringContracts.get(contract)).contract).toMatchObject({ entry_point: 'double' });
  const problems = SCENARIOS.map(({ id, candidate }) => ({ id, candidate, scoring: { contract: 'doubling' } }));
  const stored = await harena.scenarios.create('doubles', problems);
  expect(stored).toMatchObject({ ref: 'doubles@1', candidates: 3, contracts: ['doubling@1'] });
  expect((await harena.scenarios.get('doubles', { content: true })).scenarios).toHaveLength(3);
  for (const scenarios of [stored, { ref: 'doubles@1' }]) {
    const { runs } = await harena.benchmarkJobs.wait(await harena.benchmarkJobs.create({ name: 'stored', scenarios }));
    expect(runs.map((each) => each.score)).toEqual([1, 0, 0]);
  }
  expect((await harena.scenarios.list({ prefix: 'doub', metadata: {} }).all()).map((each) => each.ref)).toEqual(['doubles@1']);
  expect((await harena.scoringContracts.list({ metadata: { for_whom: 'us' } }).all()).map((each) => each.ref)).toEqual(['doubling@1']);
  expect(await harena.scenarios.archive('doubles')).toBe(1);
  await harena.scenarios.delete(stored);
  await harena.scoringContracts.delete('doubling@1');
  await expect(harena.scenarios.get('doubles@1')).rejects.toBeInstanceOf(NotFoundError);
});

test('blueprints are made, listed and deleted', async () => {
  const made = await harena.blueprints.create('with-words', { env: { MY_WORD: 'x' }, files: { '/workspace/words.txt': 'a b' } });
  await using sandbox = await harena.sandboxes.create({ blueprint: made });
  expect((await sandbox.exec(['sh', '-c', 'cat words.txt; echo $MY_WORD'], { cwd: '/workspace' })).stdout).toBe('a bx\n');
  expect((await harena.blueprints.list({ name: 'with-words' }).all()).map((each) => each.id)).toEqual([made.id]);
  await harena.blueprints.delete(made);
});

test('a job is cancelled', async () => {
  const slow = { id: 'slow', candidate: 'import time\ntime.sleep(60)\n', scoring: DOUBLE };
  const job = await harena.benchmarkJobs.create({ name: 'slow', scenarios: [slow], config: { timeoutSeconds: 100 } });
  await expect(harena.benchmarkJobs.wait(job, { signal: AbortSignal.timeout(200) })).rejects.toThrow(/timeout/i);
  await harena.benchmarkJobs.cancel(job);
  expect((await harena.benchmarkJobs.wait(job)).state).toBe('cancelled');
});

test('events go on where a connection has ended', async () => {
  const event = (cursor: number): string => `id: ${cursor}\nevent: run_started\ndata: ${JSON.stringify({ cursor, at: '', kind: 'run_started', job_id: 'bj_1' })}\n\n`;
  await using served = await stub((_, response, number) => {
    if (number === 4) return json(response, 404, problem(404, 'not_found'));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(number), () => (number === 2 ? response.end() : response.destroy())); // cut off, or in good order
  });
  const cursors: number[] = [];
  const followed = (async () => {
    for await (const each of served.harena.benchmarkJobs.events('bj_1')) cursors.push(each.cursor);
  })();
  await expect(followed).rejects.toBeInstanceOf(NotFoundError);
  expect(cursors).toEqual([1, 2, 3]);
  expect(served.heard.map((each) => each.url.split('?')[1])).toEqual(['after=0', 'after=1', 'after=2', 'after=3']);
});

test('a model is trained on files of this machine', { timeout: 300_000 }, async () => {
  const rows = join(folder, 'rows of mine.jsonl');
  await writeFile(rows, '{"prompt": "a>", "completion": "x"}\n{"prompt": "b>", "completion": "y"}\n');
  const job = await harena.trainingJobs.create({
    trainerType: 'sft',
    model: 'tiny-llama',
    name: 'taught',
    config: { datasetRef: rows, steps: 2, batchSize: 2, checkpointInterval: 2 },
  });
  expect(job.config?.datasetRef).toMatchObject({ name: 'rows-of-mine', version: expect.stringMatching(/^sha256-/) as string });
  const kinds = new Set<string>();
  for await (const event of harena.trainingJobs.events(job)) kinds.add(event.kind);
  const ended = await harena.trainingJobs.wait('taught');
  expect(ended).toMatchObject({ id: job.id, state: 'completed', progress: { step: 2 }, config: { batchSize: 2 } });
  expect(kinds.size).toBeGreaterThan(2);
  expect((await harena.trainingJobs.metrics(job)).metrics['steps']).toEqual([1, 2]);
  const said: string[] = [];
  for await (const log of harena.trainingJobs.logs(job)) said.push(log.message);
  expect(said.length).toBeGreaterThan(0);
  const places = await harena.trainingJobs.download(job, join(folder, 'out'), { below: 'model/' });
  expect(places.some((each) => each.endsWith('model/config.json'))).toBe(true);
  expect((await harena.trainingJobs.list({ state: 'completed' }).all()).map((each) => each.id)).toEqual([job.id]);
  const [dataset] = await harena.objects.list({ kind: 'dataset' }).all();
  expect(dataset).toMatchObject({ name: 'rows-of-mine', files: 1 });
  const pulled: Uint8Array[] = [];
  for await (const piece of harena.objects.pull('dataset', dataset?.ref ?? '')) pulled.push(piece);
  expect(Buffer.concat(pulled).toString()).toContain('{"prompt": "a>"');
  await harena.trainingJobs.delete(job);
});
