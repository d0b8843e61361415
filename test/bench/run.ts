/** `npm run bench`: measures the gateway and the limits of this machine in one run. With a name, it runs another measurement. */
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
usage: npm run bench                     measures the complete chain on workerd and on Deno with 16 connections, and the
                                         limits of this machine, as medians of 5 rounds; in these 5 minutes, run nothing else
       npm run bench -- --full           measures 1 and 64 connections too: 15 minutes
       npm run bench -- --check          compares with the newest stored figures; ends with 1 if a figure is worse by more
                                         than the noise
       npm run bench -- --keep           stores the figures for the checked-out commit in
                                         ${HISTORY}
       npm run bench -- --json FILE      writes every figure of every round to FILE instead of .local/bench.json
       npm run bench -- --from FILE      reports, compares or stores the run in FILE, and measures nothing
       npm run bench -- NAME …           runs another measurement: latency, cost, compression, subscriptions,
                                         rules, trial
       npm run bench -- --large          measures each request with a million patients; --patients N for fewer
`;

/** The options of a measurement with a name. */
export interface BenchOptions {
  /** The patients of a large database; the measurement has a default. */
  readonly patients?: number;
}

/** A file in this folder with a measurement, whose rows are printed as a table. */
interface Bench {
  readonly bench: (options: BenchOptions) => Promise<readonly object[]>;
}

async function runNamed(name: string, options: BenchOptions): Promise<void> {
  const source = `./${name}.ts`;
  const isFound = /^[a-z0-9-]+$/.test(name) && existsSync(new URL(source, import.meta.url));
  const { bench } = isFound ? ((await import(source)) as Partial<Bench>) : {};
  if (bench === undefined) throw new UsageError(`the measurement ${name} does not exist`);
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

const NOT_A_COMMIT = 'figures are stored for a commit: commit your changes, then measure';

async function runChain(options: ChainOptions): Promise<void> {
  const { from, json = NEWEST } = options;
  // This check runs before a measurement of five minutes.
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
    if (failuresOf(run) > 0) throw new Error('a run with failures is not stored');
    await keep(keptOf(run, run.commit));
    process.stdout.write(`\nstored in ${HISTORY} as ${run.commit}\n`);
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
    throw new UsageError('--patients N is a number and needs --large');
  if (from !== undefined && (full || json !== undefined)) throw new UsageError('--from FILE measures nothing');
  const names = large ? ['large', ...positionals] : positionals;
  if (names.length === 0) return runChain({ ...values, json, from });
  if (full || json !== undefined || from !== undefined || values.check || values.keep)
    throw new UsageError('--full, --check, --keep, --json and --from are for the complete chain, without a NAME');
  for (const name of names) await runNamed(name, patients === undefined ? {} : { patients: Number(patients) });
}

await runProgram(USAGE, main);
