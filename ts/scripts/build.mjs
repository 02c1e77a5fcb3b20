// Compile src/ twice: dist/esm for `import`, dist/cjs for `require`. No bundler: each file stays one file.
// Types are not checked here: `npm run types` does.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

rmSync(`${root}dist`, { recursive: true, force: true });
for (const form of ['esm', 'cjs']) {
  const done = spawnSync(process.execPath, [tsc, '--project', `tsconfig.${form}.json`], { cwd: root, stdio: 'inherit' });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
mkdirSync(`${root}dist/cjs`, { recursive: true });
writeFileSync(`${root}dist/cjs/package.json`, '{ "type": "commonjs" }\n');
copyFileSync(`${root}../LICENSE`, `${root}LICENSE`);
