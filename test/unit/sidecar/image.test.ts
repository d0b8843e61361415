/** The image of the sidecar, as far as it can be made without Docker. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { makeImage } from '../../stack/tools/image.ts';
import { useFolder } from '../../stack/tools/use-folder.ts';
import { ROOT } from '../../stack/services/build.ts';

const folder = await useFolder('image');

test('its stages have the files for npm ci and the bundler, and the one file', async () => {
  const stages = await makeImage('sidecar/Dockerfile', folder);
  const [build, last] = [stages.get('build'), stages.get('')];
  expect(build?.packages).toContain('prom-client');
  expect(build?.packages).not.toContain('wrangler');
  expect(build?.ran).toHaveLength(2);
  expect([last?.user, last?.command]).toEqual(['node', ['node', '/app/mllp-sidecar.mjs']]);
  expect((await stat(`${last?.root}/app/mllp-sidecar.mjs`)).size).toBeGreaterThan(100_000);
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
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'loglevel'], { cwd: ROOT });
  expect(stdout.trim()).toBe('error');
});
