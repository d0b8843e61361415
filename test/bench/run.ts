/** `npm run bench`: measures the gateway and the limits of this machine in one run. With a name, it runs another measurement. */
import process from 'node:process';
import { parseArgs } from 'node:util';

import { runProgram, UsageError } from '../../edge/platform/node/program.ts';
import { measureChain } from './chain.ts';
import { checkRun, HISTORY, keep, keptOf, readHistory } from './kept.ts';
import { checkedOut } from './machine.ts';
import { failuresOf, reportOf } from './report.ts';

const USAGE = `
usage: npm run bench                     measures the complete chain on workerd and on Deno with 16 connections, and the
                                         limits of this machine, as medians of 5 rounds; in these 5 minutes, run nothing else
       npm run bench -- --check          compares with the newest stored figures; ends with 1 if a figure is worse by more
                                         than the noise
       npm run bench -- --keep           stores the figures for the checked-out commit in
                                         ${HISTORY}
       npm run bench cost                measures CPU and storage of each operation
       npm run bench latency             measures one connection with 0, 20 and 80 ms to the database
       npm run bench pairs               measures the extra CPU with rules and with subscriptions: 20 minutes;
                                         --seconds N for each row of its table
       npm run bench -- --large          measures each request with a million patients; --patients N for fewer
`;

export interface BenchOptions {
  /** The patients of the large database; the measurement has a default. */
  readonly patients?: number;
  readonly seconds?: number;
}

/** Each returns the rows of a table. */
const BENCHES: Readonly<Record<string, () => Promise<{ bench: (options: BenchOptions) => Promise<object[]> }>>> = {
  cost: () => import('./cost.ts'),
  latency: () => import('./latency.ts'),
  pairs: () => import('./pairs.ts'),
  large: () => import('./large.ts'),
};

async function runNamed(name: string, options: BenchOptions): Promise<void> {
  const load = BENCHES[name];
  if (load === undefined) throw new UsageError(`the measurement ${name} does not exist`);
  const { bench } = await load();
  const rows = await bench(options);
  process.stdout.write(`\n${name}\n`);
  console.table(rows);
}

const NOT_A_COMMIT = 'figures are stored for a commit: commit your changes, then measure';

async function runChain(check: boolean, keeps: boolean): Promise<void> {
  // This check runs before a measurement of five minutes.
  if (keeps && (await checkedOut(HISTORY)) === undefined) throw new Error(NOT_A_COMMIT);
  const run = await measureChain();
  process.stdout.write(reportOf(run));
  if (check) {
    const { text, isWorse } = checkRun(run, await readHistory());
    process.stdout.write(`\n${text}`);
    if (isWorse) process.exitCode = 1;
  }
  if (!keeps) return;
  if (run.commit === undefined) throw new Error(NOT_A_COMMIT);
  if (failuresOf(run.rows) > 0) throw new Error('a run with failures is not stored');
  await keep(keptOf(run, run.commit));
  process.stdout.write(`\nstored in ${HISTORY} as ${run.commit}\n`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
      patients: { type: 'string' },
      seconds: { type: 'string' },
    },
    allowPositionals: true,
  });
  const names = values.large ? ['large', ...positionals] : positionals;
  if (names.length === 0) return runChain(values.check, values.keep);
  if (values.check || values.keep)
    throw new UsageError('--check and --keep are for the complete chain, without a NAME');
  const options: { -readonly [name in keyof BenchOptions]: number } = {};
  for (const name of ['patients', 'seconds'] as const) {
    const text = values[name];
    if (text === undefined) continue;
    if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`--${name} N is a positive number`);
    options[name] = Number(text);
  }
  for (const name of names) await runNamed(name, options);
}

await runProgram(USAGE, main);
