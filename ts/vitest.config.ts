import { defineConfig } from 'vitest/config';

export default defineConfig({
  oxc: { target: 'es2022' }, // Node 20 has no `using` of its own
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/server.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
