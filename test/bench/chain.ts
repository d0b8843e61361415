/**
 * Measures the complete chain on one machine: load generator, workerd, Neon's endpoint and PostgreSQL; and load generator, Deno
 * and PostgreSQL. Both start once. Each round measures every operation of both and every limit of the machine. A machine that is
 * slow for a while is therefore slow for all of them. Only ratios within a round are valid on other machines and at other times.
 */
import process from 'node:process';

import { HISTORY } from './kept.ts';
import { startLimits } from './limits.ts';
import { measureHttp, type Measured } from './load.ts';
import { checkedOut, thisMachine, versionsOf } from './machine.ts';
import { addSite } from './operations.ts';
import type { Row, Run } from './report.ts';
import { inRounds } from './rounds.ts';
import { type Runtime, startStack } from './stack.ts';

const ROUNDS = 5;
/** The complete measurement lasts about five minutes. */
const SPELL = { connections: 16, warmUpMs: 300, measureMs: 1_500 };

type Turn = Pick<Row, 'group' | 'what'> & { readonly measure: () => Promise<Measured> };

/** Alternates the entries of two lists, so that the connections of neither side are idle for long. */
const alternately = <T>(first: readonly T[], second: readonly T[]): T[] =>
  first.flatMap((one, at) => [one, ...second.slice(at, at + 1)]);

export async function measureChain(): Promise<Run> {
  const at = new Date().toISOString();
  const commit = await checkedOut(HISTORY);
  const stops: (() => Promise<void>)[] = [];
  try {
    const startOn = async (runtime: Runtime) => {
      const stack = await startStack(runtime);
      stops.unshift(stack.stop);
      const requests = await addSite(stack);
      const turns = requests.operations.map((operation): Turn => {
        const measure = () => measureHttp(stack.url, operation, SPELL, stack.watched);
        return { group: runtime, what: operation.what, measure };
      });
      return { stack, requests, turns };
    };
    const [onWorkerd, onDeno] = [await startOn('workerd'), await startOn('Deno')];
    const { limits, stop } = await startLimits(onWorkerd.stack, onWorkerd.requests);
    stops.unshift(stop);
    const turns: Turn[] = [
      ...limits.map(({ what, measure }): Turn => ({ group: 'limit', what, measure: () => measure(SPELL) })),
      ...alternately(onWorkerd.turns, onDeno.turns),
    ];
    const rounds = await inRounds(
      ROUNDS,
      turns.map(({ measure }) => measure),
      (round) => process.stderr.write(round === 0 ? 'warming up\n' : `round ${round} of ${ROUNDS}\n`),
    );
    const rows = turns.map(({ group, what }, index): Row => ({ group, what, rounds: rounds[index] ?? [] }));
    return { at, commit, machine: thisMachine(), versions: await versionsOf(onWorkerd.stack.client), rows };
  } finally {
    for (const stop of stops) await stop();
  }
}
