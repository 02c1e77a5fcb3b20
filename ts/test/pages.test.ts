import { expect, test } from 'vitest';

import { json, stub } from './stub.js';

test('a list is fetched page by page, and no further than it is read', async () => {
  const all = Array.from({ length: 7 }, (_, number) => ({ id: `bj_${number}`, name: 'x' }));
  await using served = await stub((heard, response) => {
    const asked = new URL(heard.url, 'http://x').searchParams;
    const from = Number(asked.get('cursor') ?? 0);
    const to = from + Math.min(Number(asked.get('limit')), 3);
    json(response, 200, { benchmark_jobs: all.slice(from, to), next_cursor: to < all.length ? to : null });
  });
  const { benchmarkJobs } = served.harena;
  expect((await benchmarkJobs.list().all()).map((each) => each.id)).toEqual(all.map((each) => each.id));
  expect(served.heard.map((each) => each.url)).toEqual(['', '&cursor=3', '&cursor=6'].map((more) => `/v1/benchmark_jobs?limit=500${more}`));
  expect(await benchmarkJobs.list({ limit: 4, name: 'a b' }).all()).toHaveLength(4);
  expect(served.heard.slice(3).map((each) => each.url)).toEqual(['?name=a+b&limit=4', '?name=a+b&limit=1&cursor=3'].map((query) => `/v1/benchmark_jobs${query}`));
  for await (const job of benchmarkJobs.list()) if (job.id === 'bj_1') break;
  expect(served.heard).toHaveLength(6);
  const sizes: number[] = [];
  for await (const page of benchmarkJobs.list().pages()) sizes.push(page.length);
  expect(sizes).toEqual([3, 3, 1]);
  expect(await benchmarkJobs.list({ limit: 0 }).all()).toEqual([]);
  expect(() => benchmarkJobs.list({ limit: -1 })).toThrow('limit must be 0 or more');
});

test('a page that names itself as the next one is an error', async () => {
  await using served = await stub((_, response) => json(response, 200, { blueprints: [{ id: 'bp_1' }], next_cursor: 'c' }));
  await expect(served.harena.blueprints.list().all()).rejects.toThrow('the server names a page as the one after itself');
});
