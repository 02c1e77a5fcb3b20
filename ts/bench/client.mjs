// One life of a sandbox for each line that comes: create, exec, stop. The answer is how many milliseconds it took.
// Driven by `python -m benchmarks typescript`, with HARENA_BASE_URL; needs `npm run build`.
import { createInterface } from 'node:readline';

import { Harena } from '../dist/esm/index.js';

const harena = new Harena();
for await (const _ of createInterface({ input: process.stdin })) {
  const began = performance.now();
  const sandbox = await harena.sandboxes.create();
  const { stdout } = await sandbox.exec(['echo', 'hello']);
  await sandbox.stop();
  const taken = performance.now() - began;
  if (stdout !== 'hello\n') throw new Error(`the command printed ${JSON.stringify(stdout)}`);
  console.log(taken);
}
await harena.close();
