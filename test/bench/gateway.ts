/**
 * Measures the complete chain on one machine: load generator, workerd, Neon's endpoint and PostgreSQL; and load generator, Deno
 * and PostgreSQL. Both start once. Each round measures every operation of both and every limit of the machine. A machine that is
 * slow for a while is therefore slow for all of them. Only ratios within a round are valid on other machines and at other times.
 */
import process from 'node:process';

import { startCalibrators } from './calibrators.ts';
import { startGatewayStack } from './gateway-stack.ts';
import { measureHttp, type Measured, type Spell } from './load.ts';
import { checkedOut, thisMachine, versionsOf } from './machine.ts';
import { HISTORY } from './report/history.ts';
import type { Row, Run } from './report/run.ts';
import { inRounds } from './rounds.ts';

const ROUNDS = 5;
/** The complete measurement lasts about five minutes. */
const SPELL = { warmUpMs: 300, measureMs: 1_500 };

type Turn = Pick<Row, 'group' | 'what' | 'connections'> & { readonly measure: () => Promise<Measured> };

/** Alternates the entries of two lists, so that the connections of neither side are idle for long. */
const alternately = <T>(first: readonly T[], second: readonly T[]): T[] =>
  Array.from({ length: Math.max(first.length, second.length) }, (_, at) => [first[at], second[at]])
    .flat()
    .filter((one) => one !== undefined);

/** @param counts the numbers of connections; everything is measured with each of them */
export async function measureGateway(counts: readonly number[]): Promise<Run> {
  const at = new Date().toISOString();
  const commit = await checkedOut(HISTORY);
  const stops: (() => Promise<void>)[] = [];
  try {
    const turnsOf = async (runtime: 'workerd' | 'Deno') => {
      const stack = await startGatewayStack({ runtime });
      stops.unshift(stack.stop);
      const { gateway, operations, watched } = stack;
      const turns = operations.flatMap(({ what, expected, next, prepare }) =>
        counts.map((connections): Turn => {
          const measure = async (): Promise<Measured> => {
            await prepare?.();
            return measureHttp(gateway.url, expected, next, { ...SPELL, connections }, watched);
          };
          return { group: runtime, what, connections, measure };
        }),
      );
      return { stack, turns };
    };
    const onWorkerd = await turnsOf('workerd');
    const onDeno = await turnsOf('Deno');
    const { calibrators, stop } = await startCalibrators(onWorkerd.stack);
    stops.unshift(stop);
    const limits = calibrators.flatMap(({ what, measure }) =>
      counts.map((connections): Turn => {
        const spell: Spell = { ...SPELL, connections };
        return { group: 'limit', what, connections, measure: () => measure(spell) };
      }),
    );
    const versions = await versionsOf(onWorkerd.stack.databaseUrl);

    const turns = [...limits, ...alternately(onWorkerd.turns, onDeno.turns)];
    const rounds = await inRounds(
      ROUNDS,
      turns.map(({ measure }) => measure),
      (round) => process.stderr.write(round === 0 ? 'warming up\n' : `round ${round} of ${ROUNDS}\n`),
    );
    const rows = turns.map(({ group, what, connections }, index) => ({
      group,
      what,
      connections,
      rounds: rounds[index] ?? [],
    }));
    // In the order of the report: the limits, then each runtime.
    const inOrder = (['limit', 'workerd', 'Deno'] as const).flatMap((group) =>
      rows.filter((row) => row.group === group),
    );
    return { at, commit, machine: thisMachine(), versions, rows: inOrder };
  } finally {
    for (const stop of stops) await stop();
  }
}
