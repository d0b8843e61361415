/** `npm run bench`: what the gateway does on this machine, beside the limits of the same run; by a name, one of the other measurements. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';

import { runProgram, UsageError } from '../../edge/platform/node/program.ts';
import { ROOT } from '../stack/services/build.ts';
import { measureGateway } from './gateway.ts';
import { checkedOut } from './machine.ts';
import { checkRun } from './report/compare.ts';
import { HISTORY, keep, readHistory } from './report/history.ts';
import { keptOf } from './report/kept.ts';
import { failuresOf, type Run, run as runOf } from './report/run.ts';
import { reportOf } from './report/table.ts';

/** Git ignores it. */
const NEWEST = `${ROOT}.local/bench.json`;

const USAGE = `
usage: npm run bench                     the whole chain on workerd and on Deno with 16 connections, beside the limits of
                                         this machine, as medians of 5 rounds: 5 minutes, for which nothing else should run
       npm run bench -- --full           with 1 and 64 connections too: 15 minutes
       npm run bench -- --check          and what got slower or dearer than what was kept last, by more than the noise: then
                                         it ends with 1
       npm run bench -- --keep           and keeps its figures as those of the commit that is checked out, in
                                         ${HISTORY}
       npm run bench -- --json FILE      every figure of every round goes to FILE, not to .local/bench.json
       npm run bench -- --from FILE      tells, checks or keeps the run of such a file, and measures nothing
       npm run bench -- NAME …           something else: latency, cost, postgres
       npm run bench -- --large          what each request costs at a million patients; --patients N for fewer
`;

/** What a measurement that goes by a name may be told. */
export interface BenchOptions {
  /** How many patients a large database has; default its own number. */
  readonly patients?: number;
}

/** A file of this folder that measures: its rows are printed as a table. */
interface Bench {
  readonly bench: (options: BenchOptions) => Promise<readonly object[]>;
}

async function runNamed(name: string, options: BenchOptions): Promise<void> {
  const source = `./${name}.ts`;
  const isThere = /^[a-z0-9-]+$/.test(name) && existsSync(new URL(source, import.meta.url));
  const { bench } = isThere ? ((await import(source)) as Partial<Bench>) : {};
  if (bench === undefined) throw new UsageError(`there is no measurement ${name}`);
  process.stdout.write(`\n${name}\n`);
  console.table(await bench(options));
}

interface ChainOptions {
  readonly full: boolean;
  readonly check: boolean;
  readonly keep: boolean;
  readonly json: string | undefined;
  readonly from: string | undefined;
}

const NOT_A_COMMIT = 'figures are kept of a commit: commit what is changed, then measure';

async function runChain(options: ChainOptions): Promise<void> {
  const { from, json = NEWEST } = options;
  // Before five minutes are spent.
  if (options.keep && from === undefined && (await checkedOut(HISTORY)) === undefined) throw new Error(NOT_A_COMMIT);
  let run: Run;
  if (from === undefined) {
    run = await measureGateway(options.full ? [1, 16, 64] : [16]);
    await mkdir(dirname(json), { recursive: true });
    await writeFile(json, `${JSON.stringify(run, null, 1)}\n`);
  } else {
    run = runOf.parse(JSON.parse(await readFile(from, 'utf8')));
  }
  process.stdout.write(reportOf(run));

  if (options.check) {
    const { text, isWorse } = checkRun(run, await readHistory());
    process.stdout.write(`\n${text}`);
    if (isWorse) process.exitCode = 1;
  }
  if (options.keep) {
    if (run.commit === undefined) throw new Error(NOT_A_COMMIT);
    if (failuresOf(run) > 0) throw new Error('a run with failures is not kept');
    await keep(keptOf(run, run.commit));
    process.stdout.write(`\nkept in ${HISTORY} as ${run.commit}\n`);
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      full: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      json: { type: 'string' },
      from: { type: 'string' },
      large: { type: 'boolean', default: false },
      patients: { type: 'string' },
    },
    allowPositionals: true,
  });
  const { large, patients, full, json, from } = values;
  if (patients !== undefined && (!large || !/^[1-9]\d*$/.test(patients)))
    throw new UsageError('--patients N goes with --large and is a number');
  if (from !== undefined && (full || json !== undefined)) throw new UsageError('--from FILE measures nothing');
  const names = large ? ['large', ...positionals] : positionals;
  if (names.length === 0) return runChain({ ...values, json, from });
  if (full || json !== undefined || from !== undefined || values.check || values.keep)
    throw new UsageError('--full, --check, --keep, --json and --from are of the whole chain, which has no NAME');
  for (const name of names) await runNamed(name, patients === undefined ? {} : { patients: Number(patients) });
}

await runProgram(USAGE, main);
