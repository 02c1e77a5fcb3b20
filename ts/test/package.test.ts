// The package as users have it: packed, installed into an empty project, and asked to do what its pages say.
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

import { client } from './client.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = { readme: join(ROOT, 'README.md'), page: join(ROOT, '../docs/how-to/typescript.md') };
const LONG = 300_000;

/** As the seed prints it, but for what it says of its candidate solutions: nothing. */
const PRINTED = `import Runloop from 'runloop';
// Configure execution environments for RFT training loop
const blueprint = await runloop.blueprints.get('python-ml-training-env');
// Submit scenario batch for reward signal generation
const job = await runloop.benchmarkJobs.create({
name: 'rft-epoch-42-reward-signals',
scenarios: candidateSolutions,
blueprintId: blueprint.id,
config: {
concurrency: 200,
timeoutSeconds: 120,
retryAttempts: 1
}
});
// Collect scoring signals for training loop
const results = await runloop.benchmarkJobs.wait(job.id);
const rewardSignals = results.runs.map(r => [r.scenarioId, r.score]);
`;
const BEFORE = `const scoring = { type: 'tests', entry_point: 'double', checks: [{ args: [4], expected: 8 }] };
const candidateSolutions = ['x * 2', 'x + 2'].map((answer, number) => ({
  id: \`candidate-\${number}\`, candidate: \`def double(x):\\n    return \${answer}\\n\`, scoring }));
`;
const AFTER = 'console.log(JSON.stringify(rewardSignals), new Runloop() instanceof Object);\n';

/** A wrong field does not compile, and a right one does: an error that is expected and does not come is one. */
const WRONG = `import { Harena } from '@harena/sdk';
const jobs = new Harena().benchmarkJobs;
export const right = () => jobs.create({ name: 'x', scenarios: [], config: { timeoutSeconds: 1 } });
// @ts-expect-error: there is no such field
export const wrong = () => jobs.create({ name: 'x', scenarios: [], config: { timoutSeconds: 1 } });
// @ts-expect-error: a score may be missing
export const score = async (): Promise<number> => (await new Harena().score('', {})).score;
`;

interface Block {
  name: string;
  language: string;
  isRun: boolean;
  text: string;
}

let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'harena-ts-package-'));
  await mkdir(join(project, 'packed'));
  await done('npm', ['pack', '--silent', '--pack-destination', join(project, 'packed')], ROOT);
  await done('npm', ['pack', '--silent', '--pack-destination', join(project, 'packed'), './runloop'], ROOT);
  await writeFile(join(project, 'package.json'), '{ "name": "user", "private": true, "type": "module" }');
  const packed = (await readdir(join(project, 'packed'))).map((name) => `./packed/${name}`);
  expect(packed).toHaveLength(2);
  await done('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', ...packed], project);
  await mkdir(join(project, 'src'));
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'ES2022', lib: ['ES2022', 'ESNext.Disposable'], module: 'NodeNext', strict: true, skipLibCheck: true,
        typeRoots: [join(ROOT, 'node_modules/@types')], types: ['node'], rootDir: 'src', outDir: 'out', allowJs: true,
      },
      include: ['src'],
    }),
  );
  for (const block of await blocks()) {
    await writeFile(join(project, 'src', `${block.name}.${block.language === 'javascript' ? 'mjs' : 'ts'}`), block.text);
  }
  await writeFile(join(project, 'src/printed.ts'), BEFORE + PRINTED + AFTER);
  await writeFile(join(project, 'src/wrong.ts'), WRONG);
  await writeFile(join(project, 'src/required.cts'), "import { Harena, NotFoundError } from '@harena/sdk';\nconst harena: Harena = new Harena();\nvoid harena.health().then((found) => console.log(found.status, NotFoundError.name)).finally(() => harena.close());\n");
  await cp(join(project, 'src'), join(project, 'out'), { recursive: true });
  await done(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '--project', '.'], project);
}, LONG);
afterAll(() => rm(project, { recursive: true, force: true }));

describe('what the pages say', async () => {
  for (const block of await blocks()) {
    test.skipIf(!block.isRun)(block.name, { timeout: LONG }, async () => {
      await run(`out/${block.name}.${block.language === 'javascript' ? 'mjs' : 'js'}`);
    });
  }
});

test('the readme has an example that runs', async () => {
  expect((await blocks()).filter((each) => each.isRun && each.name.startsWith('readme')).length).toBeGreaterThan(0);
  expect(await run('out/readme-1.js')).toContain('0 42\n');
});

test('it is required by CommonJS', async () => {
  expect(await run('out/required.cjs')).toBe('ok NotFoundError\n');
  const script = "const { Harena, default: other, Runloop } = require('@harena/sdk'); console.log(Harena === other, Harena === Runloop)";
  expect(await done(process.execPath, ['--input-type=commonjs', '--eval', script], project)).toBe('true true\n');
});

test('the printed snippet gives what it promises', { timeout: LONG }, async () => {
  await client().blueprints.create('python-ml-training-env');
  expect(await run('out/printed.js')).toBe('[["candidate-0",1],["candidate-1",0]] true\n');
});

test('it brings no dependencies and nothing but what it needs', async () => {
  const installed = (await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'));
  expect(installed.sort()).toEqual(['@harena', 'runloop']);
  const files = (await readdir(join(project, 'node_modules/@harena/sdk'))).sort();
  expect(files).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
});

/** The programs of the pages, as scripts/check_docs.py knows them in Python: `no-run` is compiled and not run. */
async function blocks(): Promise<Block[]> {
  const found: Block[] = [];
  for (const [page, path] of Object.entries(PAGES)) {
    let number = 0;
    for (const [, head = '', text = ''] of (await readFile(path, 'utf8')).matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
      const [language = '', ...words] = head.split(' ');
      if (language !== 'typescript' && language !== 'javascript') continue;
      number += 1;
      found.push({ name: `${page}-${number}`, language, isRun: !words.includes('no-run'), text });
    }
  }
  return found;
}

async function run(program: string): Promise<string> {
  return await done(process.execPath, [program], project);
}

/** What a program prints. Rejects with all that it says where it fails. */
function done(command: string, words: string[], cwd: string): Promise<string> {
  const env = { ...process.env, HARENA_BASE_URL: inject('baseUrl'), HARENA_API_KEY: inject('apiKey') };
  const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (piece) => (out += String(piece)));
  child.stderr.on('data', (piece) => (err += String(piece)));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(out);
      else reject(new Error(`${out}${err}\n${command} ${words.join(' ')} ended with ${code}`));
    });
  });
}
