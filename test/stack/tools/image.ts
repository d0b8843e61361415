/**
 * An image made without a container engine: the steps of its Dockerfile, each stage in a folder that has only what its COPY
 * lines name. Absolute paths of a stage are below its folder. `npm ci` installs no package: it says which ones it would
 * install, and they are copied from the ones installed here.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { ROOT } from '../services/build.ts';
import { denoBinary } from '../services/edge-deno.ts';

const run = promisify(execFile);

export interface Stage {
  /** The image that it begins with, as it is written. */
  readonly base: string;
  /** The folder that is the root of its files. */
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** The last USER; undefined is root. */
  readonly user: string | undefined;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  /** The RUN lines. */
  readonly ran: readonly string[];
  /** The packages that its `npm ci` would install. */
  readonly packages: readonly string[];
}

interface Line {
  readonly instruction: string;
  readonly rest: string;
}

async function dockerfileLines(path: string): Promise<Line[]> {
  const text = (await readFile(`${ROOT}${path}`, 'utf8')).replaceAll(/^ *#.*\n/gm, '').replaceAll('\\\n', ' ');
  return text.split('\n').flatMap((line) => {
    const [, instruction, rest] = /^([A-Z]+) +(.*)$/.exec(line.trim()) ?? [];
    return instruction === undefined || rest === undefined ? [] : [{ instruction, rest }];
  });
}

/** Copies the packages that `npm ci` would install. */
async function install(command: string, cwd: string): Promise<string[]> {
  const { stdout } = await run('sh', ['-c', `${command} --dry-run --offline`], { cwd });
  const packages = [...stdout.matchAll(/^add (\S+) /gm)].map(([, name = '']) => name);
  for (const name of packages)
    await cp(`${ROOT}node_modules/${name}`, `${cwd}/node_modules/${name}`, { recursive: true }).catch(
      (error: unknown) => {
        // A package for another platform.
        if (!name.startsWith('@esbuild/')) throw error;
      },
    );
  return packages;
}

const itemsOf = (rest: string): string[] => rest.split(/\s+/);
const execForm = (rest: string): string[] => JSON.parse(rest.replace(/^[^[]*/, '')) as string[];

/** Each stage by its name, the last one as ''. @param folder an empty folder */
export async function makeImage(dockerfile: string, folder: string): Promise<ReadonlyMap<string, Stage>> {
  const stages = new Map<string, Stage>();
  let name = '';
  const stageOf = (of: string): Stage => {
    const stage = stages.get(of);
    if (stage === undefined) throw new Error(`${dockerfile} has no stage ${of}`);
    return stage;
  };
  const change = (part: Partial<Stage>): void => void stages.set(name, { ...stageOf(name), ...part });
  for (const { instruction, rest } of await dockerfileLines(dockerfile)) {
    if (instruction === 'ARG') continue;
    if (instruction === 'FROM') {
      const [base = '', , as = ''] = itemsOf(rest);
      name = as;
      const root = join(folder, as === '' ? 'last' : as);
      const nothing = { env: {}, user: undefined, command: [], healthcheck: [], ran: [], packages: [] };
      stages.set(name, { base, root, workdir: '/', ...nothing });
      continue;
    }
    const { root, workdir, env, ran } = stageOf(name);
    const cwd = join(root, workdir);
    if (instruction === 'WORKDIR') {
      change({ workdir: rest });
      await mkdir(join(root, rest), { recursive: true });
    } else if (instruction === 'ENV') {
      const pairs = itemsOf(rest).map((pair) => pair.split('='));
      change({ env: { ...env, ...Object.fromEntries(pairs) } });
    } else if (instruction === 'COPY') {
      const [, from, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(rest) ?? [];
      const [target = '', ...sources] = itemsOf(paths).toReversed();
      const below = target.startsWith('/') ? join(root, target) : join(cwd, target);
      for (const source of sources) {
        const path = from === undefined ? `${ROOT}${source}` : join(stageOf(from).root, source);
        await cp(path, target.endsWith('/') ? join(below, basename(source)) : below, { recursive: true });
      }
    } else if (instruction === 'RUN') {
      if (rest.startsWith('npm ci ')) change({ packages: await install(rest, cwd) });
      else {
        // The programs of the base image, without the caches of this machine's user.
        const path = `${join(denoBinary(), '..')}:${join(process.execPath, '..')}:${process.env['PATH']}`;
        const inside = Object.entries(env).map(([key, value]) => [key, value.replace(/^(?=\/)/, root)]);
        await run('sh', ['-c', rest], { cwd, env: { PATH: path, HOME: root, ...Object.fromEntries(inside) } });
      }
      change({ ran: [...ran, rest] });
    } else if (instruction === 'USER') change({ user: rest });
    else if (instruction === 'CMD') change({ command: execForm(rest) });
    else if (instruction === 'HEALTHCHECK') change({ healthcheck: execForm(rest) });
    else if (instruction !== 'EXPOSE' && instruction !== 'ENTRYPOINT')
      throw new Error(`${dockerfile}: ${instruction} is not supported here`);
  }
  return stages;
}
