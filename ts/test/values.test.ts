import { expect, test } from 'vitest';

import { readEvents } from '../src/events.js';
import { FrameError, readFrames } from '../src/frames.js';
import { writeJson } from '../src/json.js';
import { mergeMetrics, type Metrics } from '../src/metrics.js';
import { received, sent } from '../src/naming.js';
import { float } from '../src/index.js';

test('names of the API are rewritten, and those that users chose are not', () => {
  const job = { left_out: { told: ['a_b'], rows: 1 }, config: { timeout_seconds: 1 }, webhook: null };
  expect(received(job, 'BenchmarkJob')).toEqual({ leftOut: { told: ['a_b'], rows: 1 }, config: { timeoutSeconds: 1 }, webhook: null });
  const run = { scenario_id: 'x_y', metadata: { my_key: 1 }, expected: { passed: true, reason: [], score: 1 } };
  expect(received({ runs: [run] }, 'ResultsPage')).toEqual({ runs: [{ scenarioId: 'x_y', metadata: { my_key: 1 }, expected: { passed: true, reason: [], score: 1 } }] });
  const blueprint = { env: { myVar: '1' }, gateways: { myGate: { requestsPerMinute: 2, url: 'u', secret: 's' } }, limits: { memoryBytes: 3 } };
  expect(sent(blueprint, 'BlueprintBody')).toEqual({
    env: { myVar: '1' },
    gateways: { myGate: { requests_per_minute: 2, url: 'u', secret: 's' } },
    limits: { memory_bytes: 3 },
  });
  const request = { trainerType: 'rl', config: { promptDatasetRef: { name: 'a', version: '1' }, rewardRecipe: { name: 'r', params: { myParam: 1 } } } };
  expect(sent(request, 'SFTRequest|RLRequest')).toEqual({
    trainer_type: 'rl',
    config: { prompt_dataset_ref: { name: 'a', version: '1' }, reward_recipe: { name: 'r', params: { myParam: 1 } } },
  });
});

test('a key of a map is a key, whatever it is called', () => {
  const given = JSON.parse('{"gateways": {"__proto__": {"url": "u"}}}') as unknown;
  expect(JSON.stringify(sent(given, 'BlueprintBody'))).toBe('{"gateways":{"__proto__":{"url":"u"}}}');
});

test('whole floats are told from integers, and big integers are exact', () => {
  const check = { args: [2, 2.5, -3, 2n ** 64n], expected: float(2), more: [float(-0), float(1e300), null, true, 'x"\n'], left: undefined };
  expect(writeJson(check)).toBe('{"args":[2,2.5,-3,18446744073709551616],"expected":2.0,"more":[-0.0,1e+300,null,true,"x\\"\\n"]}');
});

test('what JSON would change in silence is refused, with its place', () => {
  expect(() => writeJson([{ expected: [NaN] }], 'scenarios')).toThrow('scenarios[0].expected[0] cannot be sent as JSON: it is NaN; in a check write { $float: \'nan\' }');
  expect(() => writeJson({ expected: 2 ** 53 })).toThrow('write a bigint');
  expect(() => writeJson([undefined])).toThrow('value[0] cannot be sent as JSON: it is undefined');
  expect(() => writeJson({ f: () => 1 })).toThrow('value.f cannot be sent as JSON: it is a function');
  expect(() => writeJson({ seen: new Map([[1, 2]]) })).toThrow('it is a Map: give plain objects and arrays');
  expect(() => float(Infinity)).toThrow('$float');
});

test('frames are read wherever their stream is cut', async () => {
  const stream = Buffer.concat([frame(1, '{}'), frame(2, 'out'), frame(2, ''), frame(3, 'e'.repeat(300)), frame(4, '{"a":1}')]);
  for (const size of [1, 2, 5, 7, 64, 1000]) {
    const found: string[] = [];
    for await (const { kind, content } of readFrames(cut(stream, size))) found.push(`${kind}${content.toString()}`);
    expect(found).toEqual(['1{}', '2out', '2', `3${'e'.repeat(300)}`, '4{"a":1}']);
  }
  await expect(read(readFrames(cut(stream.subarray(0, 22), 6)))).rejects.toBeInstanceOf(FrameError);
  await expect(read(readFrames(cut(Buffer.from([9, 0, 0, 0, 0]), 5)))).rejects.toThrow('unknown frame (9)');
  await expect(read(readFrames(cut(Buffer.from([2, 255, 255, 255, 255]), 5)))).rejects.toThrow('too large');
});

test('events are read wherever their stream is cut', async () => {
  const text = ': events\n\nid: 1\nevent: run_started\ndata: {"a": "\u00e9"}\n\n: still here\n\nevent: end\ndata: {}\n\ndata: {"cut":';
  for (const size of [1, 3, 16, 1000]) {
    expect(await read(readEvents(cut(Buffer.from(text), size)))).toEqual([
      { kind: 'run_started', data: { a: '\u00e9' } },
      { kind: 'end', data: {} },
    ]);
  }
});

test('metrics that are trained anew replace what was told before', () => {
  const merged: Metrics = {};
  mergeMetrics(merged, { steps: [1, 2, 3], 'train/reward': [0.1, 0.2, 0.3], 'run/total': 1 });
  mergeMetrics(merged, { steps: [3, 4], 'train/reward': [0.4, 0.5], 'train/new': [9, 8], 'run/total': 2, 'eval/steps': [4], 'eval/score': [1] });
  expect(merged).toEqual({
    steps: [1, 2, 3, 4],
    'train/reward': [0.1, 0.2, 0.4, 0.5],
    'train/new': [null, null, 9, 8],
    'run/total': 2,
    'eval/steps': [4],
    'eval/score': [1],
  });
});

function frame(kind: number, content: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(kind);
  head.writeUInt32BE(Buffer.byteLength(content), 1);
  return Buffer.concat([head, Buffer.from(content)]);
}

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function read<T>(found: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of found) all.push(each);
  return all;
}
