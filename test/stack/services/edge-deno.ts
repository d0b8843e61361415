/** The gateway under Deno, as a separate process. */
import { readdirSync } from 'node:fs';

import { DENO_PERMISSIONS } from '../../../edge/platform/deno-permissions.ts';
import { buildAssets } from '../../../edge/platform/node/build-assets.ts';
import { BUILD_FOLDER, buildOnce, ROOT } from './build.ts';
import type { Edge, EdgeOptions } from './edge.ts';
import { spawnLogged } from './logged.ts';
import { until } from './until.ts';

/** The program itself instead of the package's launcher, which would not pass on signals. */
export function denoBinary(): string {
  const folder = `${ROOT}node_modules/@deno`;
  const [platform] = readdirSync(folder);
  if (platform === undefined) throw new Error('the npm package deno has no binary for this platform');
  return `${folder}/${platform}/deno`;
}

/** Built once for each process, and once for all processes of a test run. */
let assets: Promise<unknown> | undefined;

export async function startDenoEdge(
  options: EdgeOptions,
): Promise<Edge & { readonly pid: number; exited: Promise<number | null> }> {
  const folder = process.env[BUILD_FOLDER];
  await (assets ??= folder === undefined ? buildAssets() : buildOnce(folder, 'assets', () => buildAssets()));
  const { tokenPerClient, tokenPerAddress, adminPerAddress, perKey } = options.rateLimits;
  const env = {
    ...process.env,
    HOST: '127.0.0.1',
    PORT: String(options.port),
    ...options.env,
    RATE_LIMIT_TOKEN_PER_CLIENT: String(tokenPerClient),
    RATE_LIMIT_TOKEN_PER_ADDRESS: String(tokenPerAddress),
    RATE_LIMIT_ADMIN_PER_ADDRESS: String(adminPerAddress),
    RATE_LIMIT_PER_KEY: String(perKey),
    NO_COLOR: '1',
    DENO_NO_UPDATE_CHECK: '1',
    ...(options.caCertificate === undefined ? {} : { DENO_CERT: options.caCertificate }),
  };
  const { permissions = [] } = options;
  const nameOf = (flag: string) => flag.replace(/=.*/, '');
  const usual = DENO_PERMISSIONS.filter((flag) => !permissions.some((other) => nameOf(other) === nameOf(flag)));
  const command = [denoBinary(), 'run', ...usual, ...permissions, 'edge/platform/deno.ts'];
  const { exited, hasEnded, stop, kill, logs } = spawnLogged(command, { cwd: ROOT, env, log: options.log });
  await until('the gateway on Deno answers', async () => {
    if (hasEnded()) throw new Error(`deno ended:\n${logs.join('\n')}`);
    // An answer that does not come must not hide that the program has ended.
    const signal = AbortSignal.timeout(5_000);
    const response = await fetch(`http://127.0.0.1:${options.port}/healthz`, { signal }).catch(() => undefined);
    return response?.ok === true;
  });
  // A program's output arrives on another channel than its answers.
  const line = await until('its log says so', () => logs.find((each) => each.includes('"event":"listening"')));
  const pid = Number(/"pid":(\d+)/.exec(line)?.[1]);
  return { pid, exited, stop, kill, logs: () => logs };
}
