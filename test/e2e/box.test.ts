/**
 * The box for one machine (edge/platform/compose.yaml) without a container engine. The steps of its images are done in empty
 * folders, and the programs are started as its services say.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

import { misspeltVariables, readConfig, VARIABLES } from '../../edge/config.ts';
import { readSidecarConfig, SIDECAR_VARIABLES } from '../../sidecar/config.ts';
import { commandsOf, ON_TWO_PROCESSES } from '../inputs/documented-commands.ts';
import { ROOT } from '../stack/services/build.ts';
import { getToken } from '../stack/services/client.ts';
import { denoBinary } from '../stack/services/edge-deno.ts';
import { freePort } from '../stack/services/free-port.ts';
import { type Logged, spawnLogged } from '../stack/services/logged.ts';
import { type Postgres, startPostgres, UNSAFE_BUT_FAST } from '../stack/services/postgres.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { BARE_ENV, runProgram } from '../stack/tools/command-line.ts';
import { makeImage, type Stage } from '../stack/tools/image.ts';
import { startPairProxy } from '../stack/tools/pair-proxy.ts';
import { isFull } from '../stack/tools/size.ts';
import { testWhere } from '../stack/tools/test-where.ts';
import { useFolder } from '../stack/tools/use-folder.ts';

const run = promisify(execFile);

const service = z.looseObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string(), target: z.string().optional() }).optional(),
  command: z.array(z.string()).optional(),
  environment: z.union([z.record(z.string(), z.string().nullable()), z.array(z.string())]).default({}),
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
  restart: z.string().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
});
type Service = z.infer<typeof service>;

const text = await readFile(`${ROOT}edge/platform/compose.yaml`, 'utf8');
const compose = z
  .looseObject({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.unknown()) })
  .parse(parse(text, { merge: true }));
const serviceOf = (name: string): Service => service.parse(compose.services[name]);

const folder = await useFolder('box');
await run(process.execPath, ['edge/platform/node/keys-cli.ts', 'box', folder], { cwd: ROOT });
const envFile = join(folder, 'gateway.env');

/** The variables of the file as a shell reads them. */
async function fileVariables(): Promise<Record<string, string>> {
  const print = 'set -a; . "$1"; exec "$0" -p "JSON.stringify(process.env)"';
  const { stdout } = await run('/bin/sh', ['-c', print, process.execPath, envFile], { env: {} });
  const { PWD: _, ...variables } = z.record(z.string(), z.string()).parse(JSON.parse(stdout));
  return variables;
}
const variables = await fileVariables();

/** `${NAME}`, `${NAME:?…}` and `${NAME:-…}` as Compose replaces them. */
const interpolated = (value: string): string =>
  value.replaceAll(/\$\{(\w+)(?::([?-])([^}]*))?\}/g, (_, name: string, kind?: string, rest = '') => {
    const given = variables[name] ?? '';
    if (given === '' && kind === '?') throw new Error(`${name} ${rest}`);
    return given === '' && kind === '-' ? rest : given;
  });

/** The variables of a service: without a value it has that of the file, if it is there. */
function environmentOf(name: string): Record<string, string> {
  const { environment } = serviceOf(name);
  const pairs = Array.isArray(environment)
    ? environment.map((each) => [each, null] as const)
    : Object.entries(environment);
  return Object.fromEntries(
    pairs.flatMap(([key, value]) => {
      const given = value === null ? variables[key] : interpolated(value);
      return given === undefined ? [] : [[key, given]];
    }),
  );
}

describe('gateway.env', () => {
  test('has every variable that gateway and sidecar need, and no unknown one', async () => {
    const gateway = environmentOf('edge-a');
    expect(readConfig(gateway)).toMatchObject({
      INTEGRATION_FHIR_PUBLIC_BASE_URL: 'http://127.0.0.1:8000',
      SHUTDOWN_DRAIN_SECONDS: 3,
    });
    expect(misspeltVariables(variables)).toEqual([]);
    const sidecar = readSidecarConfig(environmentOf('sidecar'));
    expect(sidecar.privateKey.kid).toBe(readConfig(gateway).MLLP_SIDECAR_KEYS?.keys[0]?.kid);
    const others = Object.keys(variables).filter((name) => !(name in VARIABLES) && !(name in SIDECAR_VARIABLES));
    expect(others.toSorted()).toEqual(['BOX_GATEWAY_PASSWORD', 'BOX_HOST', 'BOX_OWNER_PASSWORD', 'BOX_TLS']);
    expect((await stat(envFile)).mode & 0o777).toBe(0o600);
  });

  test('with a host name has its public addresses, and the lines of the console can be switched on', async () => {
    const other = await useFolder('box-host', onTestFinished);
    const make = (host: string) =>
      run(process.execPath, ['edge/platform/node/keys-cli.ts', 'box', other, host], { cwd: ROOT });
    for (const wrong of ['https://gateway.example.org', 'localhost', 'a.example/b', "x'y.example", 'a.example {'])
      await expect(make(wrong), wrong).rejects.toThrow(`${wrong} is not a host name`);
    await make('gateway.example.org');
    const made = await readFile(join(other, 'gateway.env'), 'utf8');
    const on = made.replaceAll(/^#(?=ADMIN_)/gm, '').replace("_SECRET=''", "_SECRET='s'");
    const lines = [...on.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value]);
    expect(readConfig(Object.fromEntries(lines))).toMatchObject({
      ADMIN_PUBLIC_BASE_URL: 'https://gateway.example.org',
      ADMIN_OIDC_CLIENT_SECRET: 's',
      INTEGRATION_HL7_MTTP_DOMAIN: 'gateway.example.org',
    });
    expect(on).toContain("BOX_HOST='gateway.example.org'");
    await expect(make('gateway.example.org')).rejects.toThrow('already exists');
  });
});

describe('compose.yaml', () => {
  test('has no secret, and passes none to a service that does not need it', () => {
    for (const value of Object.values(variables)) if (value.length > 30) expect(text).not.toContain(value);
    const having = (secret: string) =>
      Object.keys(compose.services).filter((name) =>
        Object.entries(environmentOf(name)).some(([, value]) => value.includes(variables[secret] ?? secret)),
      );
    for (const secret of ['TOKEN_SIGNING_KEYS', 'GATEWAY_SECRET', 'METRICS_TOKEN'])
      expect([secret, having(secret)]).toEqual([secret, ['edge-a', 'edge-b']]);
    expect(having('SIDECAR_PRIVATE_KEY')).toEqual(['sidecar']);
    expect(having('BOX_OWNER_PASSWORD')).toEqual(['postgres', 'commands', 'migrate']);
    expect(having('BOX_GATEWAY_PASSWORD')).toEqual(['commands', 'migrate', 'edge-a', 'edge-b']);
  });

  test('each service that stays is restarted, has bounded logs and few rights', () => {
    const staying = Object.entries(compose.services).filter(([name]) => name !== 'commands' && name !== 'migrate');
    expect(staying.map(([name]) => name)).toEqual(['postgres', 'edge-a', 'edge-b', 'proxy', 'sidecar']);
    for (const [name, each] of staying) {
      expect(each, name).toMatchObject({
        restart: 'unless-stopped',
        security_opt: ['no-new-privileges:true'],
        logging: { driver: 'json-file', options: { 'max-size': '20m' } },
      });
      // PostgreSQL's image begins as root to give its volume to another user.
      if (name !== 'postgres') expect(each, name).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    }
    expect(serviceOf('edge-b')).toEqual(serviceOf('edge-a'));
    expect(serviceOf('postgres').image).toBe('postgres:18');
  });

  test('only the proxy and MLLP are reachable from other machines', () => {
    const open = Object.values(compose.services).flatMap(({ ports }) =>
      ports.filter((port) => !port.startsWith('127.')),
    );
    expect(open).toEqual(['80:80', '443:443', '2575:2575']);
  });

  test('every named volume is declared', () => {
    const named = Object.values(compose.services).flatMap(({ volumes }) =>
      volumes.map((volume) => interpolated(volume).split(':')[0] ?? '').filter((name) => /^\w/.test(name)),
    );
    expect(new Set(named)).toEqual(new Set(Object.keys(compose.volumes)));
  });

  test('the proxy limits slow clients, and trusts are its address', async () => {
    const caddyfile = await readFile(`${ROOT}edge/platform/Caddyfile`, 'utf8');
    for (const limit of ['read_header', 'read_body', 'request_buffers']) expect(caddyfile).toContain(limit);
    const { networks } = serviceOf('proxy');
    expect(variables['TRUSTED_PROXIES']?.split(',')).toContain(
      z.object({ default: z.object({ ipv4_address: z.string() }) }).parse(networks).default.ipv4_address,
    );
  });
});

let stages: ReadonlyMap<string, Stage>;
let postgres: Postgres;
const images = join(folder, 'images');
const stage = (name: string): Stage => {
  const found = stages.get(name);
  if (found === undefined) throw new Error(`no stage ${name}`);
  return found;
};
/** The connection string with the address of this test's server instead of the service's. */
const here = (url: string): string => {
  const there = new URL(url);
  there.host = `127.0.0.1:${postgres.port}`;
  return there.href;
};
const path = `${join(denoBinary(), '..')}:${join(process.execPath, '..')}:${BARE_ENV['PATH']}`;

beforeAll(async () => {
  [stages, postgres] = await Promise.all([
    makeImage(serviceOf('edge-a').build?.dockerfile ?? '', images),
    startPostgres({ settings: UNSAFE_BUT_FAST }),
  ]);
}, 120_000);
afterAll(() => postgres.stop());

describe('its images', () => {
  test('are pinned to the version of Deno that the tests run, have no package of tests, and no secret', async () => {
    const { devDependencies } = z
      .object({ devDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')));
    const dockerfile = await readFile(`${ROOT}edge/platform/Dockerfile`, 'utf8');
    expect(dockerfile).toContain(`ARG DENO_IMAGE=denoland/deno:alpine-${devDependencies['deno']}\n`);
    expect(stage('commands').packages).toContain('pg');
    expect(stage('commands').packages).not.toContain('wrangler');
    expect([stage('commands').user, stage('').user]).toEqual(['node', 'deno']);
    const ignored = (await readFile(`${ROOT}edge/platform/Dockerfile.dockerignore`, 'utf8')).split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['**/*.env', '**/*.pem', '**/*.key']));
  });

  test('migrate, serve, are healthy, end in good order, and write nothing', async () => {
    const commands = join(stage('commands').root, stage('commands').workdir);
    const { DATABASE_URL: owner = '', LOGIN_URL: login = '', ...rest } = environmentOf('migrate');
    expect([new URL(owner).username, rest]).toEqual(['gateway_owner', {}]);
    const [migrate = '', ...args] = serviceOf('migrate').command ?? [];
    const migration = { DATABASE_URL: postgres.url, LOGIN_URL: here(login) };
    for (const _ of ['an empty database', 'a migrated one'])
      await run(migrate, args, { cwd: commands, env: { PATH: path, HOME: folder, ...migration } });

    const { root, workdir, env, command, healthcheck } = stage('');
    const port = await freePort();
    const inside = (value: string): string => value.replace(/^\/gateway(?=\/|$)/, join(root, workdir));
    const onPort = (words: readonly string[]) =>
      words.slice(words[0] === 'CMD' ? 1 : 0).map((word) => word.replace(':8000', `:${port}`));
    // Deno opens its caches for writing if it may, which it may not in a container that is read-only.
    const files = async () =>
      (await readdir(root, { recursive: true })).filter((name) => !/_cache_v2-(?:shm|wal)$/.test(name)).toSorted();
    const before = await files();
    const edge = spawnLogged(command.map(inside), {
      cwd: join(root, workdir),
      env: {
        PATH: path,
        ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, inside(value)])),
        ...Object.fromEntries(
          Object.entries(environmentOf('edge-a')).map(([name, value]) => [name, value.replace(':8000', `:${port}`)]),
        ),
        DATABASE_URL: here(environmentOf('edge-a')['DATABASE_URL'] ?? ''),
        HOST: '127.0.0.1',
        PORT: String(port),
      },
    });
    onTestFinished(() => edge.kill());
    const base = `http://127.0.0.1:${port}`;
    await until('the gateway is ready', async () => {
      if (edge.hasEnded()) throw new Error(edge.logs.join('\n'));
      return (await fetch(`${base}/readyz`).catch(() => undefined))?.ok === true;
    });
    for (const check of [healthcheck, serviceOf('edge-a').healthcheck?.test ?? []]) {
      const [program = '', ...checkArgs] = onPort(check);
      await run(program, checkArgs);
    }
    expect((await fetch(`${base}/docs`)).status).toBe(200);

    const { code, stdout, stderr } = await runProgram('doctor', [base], { DATABASE_URL: here(login) });
    expect([code, stderr], stdout).toEqual([0, 'all checked items are OK\n']);
    expect(stdout).toMatch(/^ok +role/m);

    // The proxy leaves while requests are still answered.
    const stopped = edge.stop();
    await until('it says that it ends', async () => (await fetch(`${base}/healthz`)).status === 503);
    expect((await fetch(`${base}/fhir/metadata`)).status).toBe(200);
    await stopped;
    expect(await edge.exited).toBe(0);
    expect(edge.logs.filter((line) => !line.startsWith('{'))).toEqual([]);
    expect(await files()).toEqual(before);
  }, 120_000);
});

/**
 * The chapters of upgrade, rollback and rotation on one machine, with their own commands. `systemctl` is a function that
 * restarts a process as the unit describes it. Fourteen starts of the gateway are for the full size;
 * test/contract/deno-program.test.ts has how one drains.
 */
testWhere(isFull)(
  'no client sees an error while releases are replaced and rolled back and the signing key is rotated',
  async () => {
    const etc = join(folder, 'etc');
    const opt = join(folder, 'opt');
    const ports = [await freePort(), await freePort()] as const;
    const proxy = await startPairProxy(ports);
    onTestFinished(proxy.close);
    const base = `http://127.0.0.1:${proxy.port}`;

    for (const each of [etc, opt]) await mkdir(each);
    const settings = (await readFile(envFile, 'utf8'))
      .replaceAll('http://127.0.0.1:8000', base)
      .replace(/^(DATABASE_URL=')(.*)'$/m, (_, name: string, url: string) => `${name}${here(url)}'`)
      .replace(/^SHUTDOWN_DRAIN_SECONDS=.*$/m, "SHUTDOWN_DRAIN_SECONDS='0.5'\nRATE_LIMIT_TOKEN_PER_CLIENT='100000'");
    await writeFile(join(etc, 'gateway.env'), settings, { mode: 0o600 });
    const ring = async () =>
      /^TOKEN_SIGNING_KEYS='(.*)'$/m.exec(await readFile(join(etc, 'gateway.env'), 'utf8'))?.[1] ?? '';
    const firstRing = await ring();

    const made = join(stage('commands').root, stage('commands').workdir);
    for (const version of ['0.1.0', '0.2.0']) {
      const release = join(opt, version);
      // Links instead of copies, but for the files that differ.
      await run('cp', ['-rl', made, release]);
      const manifest = await readFile(join(made, 'package.json'), 'utf8');
      await rm(join(release, 'package.json'));
      await writeFile(join(release, 'package.json'), manifest.replace(/"version": ".*"/, `"version": "${version}"`));
      await cp(`${ROOT}deno.json`, join(release, 'deno.json'));
    }

    const processes = new Map<number, Logged>();
    const restart = async (port: number): Promise<void> => {
      await processes.get(port)?.stop();
      // As systemd reads EnvironmentFile, with the lines of the unit after it.
      const start = `set -a; . "$1"; HOST=127.0.0.1 PORT=${port}; unset BOX_OWNER_PASSWORD; exec "$2"`;
      const program = join(opt, String(port), 'edge/platform/gateway-deno.sh');
      processes.set(
        port,
        spawnLogged(['/bin/sh', '-c', start, 'unit', join(etc, 'gateway.env'), program], {
          cwd: '/',
          env: { PATH: path, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', DENO_DIR: join(folder, 'deno') },
        }),
      );
    };
    onTestFinished(async () => {
      for (const each of processes.values()) await each.kill();
    });
    const systemd = createServer((request, response) => {
      const [, port] = /^\/restart\/gateway@(\d+)$/.exec(request.url ?? '') ?? [];
      void restart(Number(port)).then(() => response.end());
    });
    systemd.listen(0, '127.0.0.1');
    await once(systemd, 'listening');
    onTestFinished(() => void systemd.close());
    const control = `http://127.0.0.1:${(systemd.address() as AddressInfo).port}`;

    const versionsSeen = async () => {
      const answers = await Promise.all(
        ports.map(
          async (port) => (await fetch(`http://127.0.0.1:${port}/readyz`)).json() as Promise<{ version: string }>,
        ),
      );
      return answers.map(({ version }) => version);
    };
    const follow = async (commands: string) => {
      const script = commands
        .replaceAll('/opt/gateway', opt)
        .replaceAll('/etc/gateway', etc)
        .replaceAll('"postgres://gateway_owner:$BOX_OWNER_PASSWORD@127.0.0.1/gateway"', `'${postgres.url}'`)
        .replaceAll('8000', String(ports[0]))
        .replaceAll('8001', String(ports[1]));
      const shims = `docker() { :; }; systemctl() { curl -sS --fail -X POST ${control}/"$1/$2"; }\n`;
      await run('bash', ['-euo', 'pipefail', '-c', `${shims}${script}`], {
        cwd: made,
        env: { PATH: path, HOME: folder },
      });
    };
    const [upgrade = '', rotation = ''] = ON_TWO_PROCESSES.map((section) => commandsOf(section).join('\n'));
    const [beforeRollback = '', rollback = ''] = upgrade.split(/^(?=release 0\.1\.0)/m);
    const release = /^release\(\) \{[^]*?^\}$/m.exec(upgrade)?.[0] ?? '';

    await follow(
      `${release}\ncd ${made}; DATABASE_URL='${postgres.url}' LOGIN_URL='${here(environmentOf('migrate')['LOGIN_URL'] ?? '')}' npm run -s migrate\nrelease 0.1.0`,
    );
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    onTestFinished(() => client.end());
    const key = await createApiKey(client, { site: await createSite(client) });

    /** Two callers. Their pauses leave the processor to the releases. */
    const done = new AbortController();
    const seen: string[] = [];
    const created: string[] = [];
    const call = async (): Promise<void> => {
      while (!done.signal.aborted) {
        const token = await getToken(base, key, { audience: 'svc-fhir' });
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' };
        for (const _ of [1, 2, 3, 4, 5]) {
          const posted = await fetch(`${base}/fhir/Patient`, {
            method: 'POST',
            headers,
            body: '{"resourceType":"Patient"}',
          });
          seen.push(String(posted.status));
          const { id } = (await posted.json()) as { id: string };
          created.push(id);
          const read = await fetch(`${base}/fhir/Patient/${id}`, { headers });
          seen.push(String(read.status));
          await read.text();
          await delay(100);
        }
      }
    };
    const calls = Promise.all([call(), call()]).catch((error: unknown) => seen.push(String(error)));

    expect(await versionsSeen()).toEqual(['0.1.0', '0.1.0']);
    await follow(beforeRollback);
    expect(await versionsSeen()).toEqual(['0.2.0', '0.2.0']);
    await follow(`${release}\n${rollback}`);
    expect(await versionsSeen()).toEqual(['0.1.0', '0.1.0']);
    await follow(`${release}\n${rotation}`);
    done.abort();
    await calls;

    expect(new Set(seen)).toEqual(new Set(['201', '200']));
    const { rows } = await client.query('select from resource where id = any($1)', [created]);
    expect([rows.length, created.length > 20]).toEqual([created.length, true]);
    const lastRing = await ring();
    expect([lastRing === firstRing, JSON.parse(lastRing)]).toEqual([false, { keys: [expect.anything()] }]);
    expect((await stat(join(etc, 'gateway.env'))).mode & 0o777).toBe(0o600);
  },
  300_000,
);

describe('the nightly dump', () => {
  const backup = (target: string, ...command: readonly string[]) =>
    run(`${ROOT}edge/platform/backup.sh`, [target, ...command], {
      env: { PATH: process.env['PATH'], BACKUP_DAYS: '14' },
    });

  test('keeps what the command prints, for its owner only, and deletes old dumps', async () => {
    const target = join(folder, 'dumps');
    const { stdout } = await backup(target, 'echo', 'a dump');
    expect(await readFile(stdout.trim(), 'utf8')).toBe('a dump\n');
    expect([(await stat(stdout.trim())).mode & 0o777, (await stat(target)).mode & 0o777]).toEqual([0o600, 0o700]);
    const old = join(target, 'gateway-20200101T000000Z.dump');
    await writeFile(old, 'old');
    await run('touch', ['-d', '20 days ago', old]);

    // A dump that failed deletes nothing.
    await expect(backup(target, 'sh', '-c', 'echo half; exit 3')).rejects.toMatchObject({ code: 3 });
    await expect(backup(target, 'true')).rejects.toMatchObject({ stderr: 'the dump is empty\n' });
    expect(await readdir(target)).toHaveLength(2);

    await backup(target, 'echo', 'another dump');
    expect((await readdir(target)).filter((name) => name === 'gateway-20200101T000000Z.dump')).toEqual([]);
  });
});

const hasSystemd = await run('systemd-analyze', ['--version']).then(
  () => true,
  () => false,
);
test.skipIf(!hasSystemd)(
  'systemd accepts the units',
  async () => {
    const target = await useFolder('units', onTestFinished);
    const units = [
      'edge/platform/systemd/gateway@.service',
      'edge/platform/systemd/gateway-backup.service',
      'edge/platform/systemd/gateway-backup.timer',
      'sidecar/sidecar.service',
    ];
    const made = await Promise.all(
      units.map(async (unit) => {
        const name = join(target, unit.replace(/^.*\//, '').replace('@.', '@8000.'));
        // The programs are where an operator puts them, which is not here.
        const content = (await readFile(`${ROOT}${unit}`, 'utf8'))
          .replaceAll(/\/opt\/gateway\/(?:%i|8000)\//g, ROOT)
          .replace('/usr/bin/node', process.execPath);
        await writeFile(name, content);
        return name;
      }),
    );
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', ...made]);
    expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes(target))).toEqual([]);
  },
  30_000,
);
