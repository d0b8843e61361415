/**
 * `npm run soak [-- --minutes 10] [--seed 1]`: the fault test of MLLP on Deno, in rounds with different seeds. It ends with 1
 * after the first round in which a message was lost, doubled, out of order or falsely acknowledged.
 */
import { parseArgs } from 'node:util';

import { helpOn } from '../../edge/platform/node/program.ts';
import { runFaults } from '../stack/tools/faults.ts';

const DEFAULT_MINUTES = '10';

if (import.meta.main) {
  helpOn('usage: npm run soak -- [--minutes 10] [--seed 1]');
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: DEFAULT_MINUTES }, seed: { type: 'string', default: '1' } },
  });
  const end = performance.now() + Number(values.minutes) * 60_000;
  let messages = 0;
  let kills = 0;
  for (let seed = Number(values.seed); performance.now() < end; seed += 1) {
    const report = await runFaults({
      runtime: 'deno',
      senders: 20,
      rounds: 4,
      messagesBetween: 300,
      seed,
      say: (line) => console.log(`  ${line}`),
    });
    messages += report.messages;
    kills += report.kills;
    const { problems, ...counts } = report;
    console.log(`seed ${seed}: ${JSON.stringify(counts)}`);
    if (problems.length === 0) continue;
    for (const problem of problems) console.error(`  ${problem}`);
    process.exit(1);
  }
  console.log(
    `${messages} messages, ${kills} kills: each message is stored exactly once and in order, and every ACK was true`,
  );
}
