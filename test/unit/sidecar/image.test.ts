/**
 * The image of the sidecar, as far as it can be built without Docker. The build stage has only the files that the Dockerfile
 * copies, and the bundler has only the packages that its `npm ci` would install.
 */
import { execFile } from 'node:child_process';
import { cp, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { useFolder } from '../../stack/tools/use-folder.ts';
import { ROOT } from '../../stack/services/build.ts';

const run = promisify(execFile);

type Instruction = { readonly copy: readonly string[] } | { readonly run: string };

/** `COPY a b ./` and `RUN …` of the build stage, in order. */
async function buildStage(): Promise<Instruction[]> {
  const dockerfile = await readFile(`${ROOT}sidecar/Dockerfile`, 'utf8');
  const [, stage = ''] = dockerfile.split(/^FROM .*$/m);
  return stage.split('\n').flatMap((line): Instruction[] => {
    const [instruction = '', ...words] = line.trim().split(/\s+/);
    if (instruction === 'COPY') return [{ copy: words }];
    return instruction === 'RUN' ? [{ run: words.join(' ') }] : [];
  });
}

const folder = await useFolder('image');

test('the build stage has the files for npm ci and the bundler', async () => {
  const commands: string[] = [];
  for (const instruction of await buildStage()) {
    if ('copy' in instruction) {
      const target = instruction.copy.at(-1) ?? '';
      for (const file of instruction.copy.slice(0, -1)) {
        await cp(`${ROOT}${file}`, join(folder, target === './' ? file : target), { recursive: true });
      }
      continue;
    }
    const command = instruction.run;
    commands.push(command);
    if (!command.startsWith('npm ci ')) {
      await run('sh', ['-c', command], { cwd: folder });
      continue;
    }
    // Nothing is fetched: what would be installed is copied from what is installed here.
    const { stdout } = await run('sh', ['-c', `${command} --dry-run --offline`], { cwd: folder });
    const packages = [...stdout.matchAll(/^add (\S+) /gm)].map(([, name = '']) => name);
    expect(packages).toContain('prom-client');
    expect(packages).not.toContain('wrangler');
    for (const name of packages) {
      const installed = `${ROOT}node_modules/${name}`;
      await cp(installed, `${folder}/node_modules/${name}`, { recursive: true }).catch((error: unknown) => {
        // A package for another platform.
        if (!name.startsWith('@esbuild/')) throw error;
      });
    }
  }
  expect(commands).toHaveLength(2);
  expect((await stat(`${folder}/dist/mllp-sidecar.mjs`)).size).toBeGreaterThan(100_000);
});

test('its base is an argument of the build, which the documentation pins by digest', async () => {
  const dockerfile = await readFile(`${ROOT}sidecar/Dockerfile`, 'utf8');
  const [, base = ''] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  expect(bases).toEqual(['${NODE_IMAGE}', '${NODE_IMAGE}']);
  const readme = await readFile(`${ROOT}edge/docs/deploy.md`, 'utf8');
  expect(readme).toContain(`docker buildx imagetools inspect ${base} --format '{{.Manifest.Digest}}'`);
  expect(readme).toContain(`--build-arg NODE_IMAGE="${base}@$digest"`);
});

test('npm prints errors only', async () => {
  const { stdout } = await run('npm', ['config', 'get', 'loglevel'], { cwd: ROOT });
  expect(stdout.trim()).toBe('error');
});
