/**
 * Histories of messages whose key has rules end as histories of the changed messages without rules. So the
 * properties of all messages, such as the independence of their order, are those of messages with rules too.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { openBytes, readOpened } from '../../../../edge/hl7/ingest/reading.ts';
import { senderRules, type SenderRule } from '../../../../edge/members/sender-rules.ts';
import { historyOf, inTwoOrders, oru } from '../../../inputs/hl7-histories.ts';
import { createWorld } from '../../../inputs/hl7-world.ts';
import { bytesOf } from '../../../stack/tools/hl7-text.ts';
import { sized } from '../../../stack/tools/size.ts';

/** Rules that are about what the histories say. */
const RULES: readonly SenderRule[] = senderRules.parse([
  { verb: 'map', path: 'OBX-11', values: { S: 'P', Q: 'F' } },
  { verb: 'map', path: 'OBX-3', values: { b: 'c' } },
  { verb: 'default', path: 'OBX-7', value: '2-4' },
  { verb: 'set', path: 'PID-8', value: 'F' },
  { verb: 'drop', path: 'NTE' },
  { verb: 'copy', from: 'OBR-3', path: 'OBR-2' },
  { verb: 'authority', path: 'PID-3', namespace: 'HOSP' },
  { verb: 'clear', path: 'OBX-8' },
]);
/** None of the messages has what these are about. */
const IDLE: readonly SenderRule[] = senderRules.parse([
  { verb: 'map', path: 'PID-8', values: { nothing: 'F' } },
  { verb: 'drop', path: 'OBX[OBX-3.1=nothing]' },
  { verb: 'ignore', when: { types: ['MDM'] } },
  { verb: 'trim', path: 'PID-5' },
]);

const changed = (message: string, rules: readonly SenderRule[]): string => {
  const { message: read } = readOpened(openBytes(bytesOf(message), 'utf-8'), { version: 1, rules });
  if (read === undefined) throw new Error('a history has only messages that can be read');
  return read.text;
};

const runs = { numRuns: sized(8, 2_000) };

const stateOf = (messages: readonly string[], rules?: readonly SenderRule[]): string => {
  const world = createWorld(rules);
  for (const message of messages) world.send(message);
  return world.state();
};

test('a history with rules ends as the history of the changed messages', () => {
  fc.assert(
    fc.property(fc.subarray([...RULES]), historyOf(oru), (rules, messages) => {
      expect(stateOf(messages, rules)).toBe(
        stateOf(messages.map((message) => (rules.length === 0 ? message : changed(message, rules)))),
      );
    }),
    runs,
  );
});

test('results end alike in any order, each once or twice, with rules', () => {
  fc.assert(
    fc.property(inTwoOrders(oru), ({ all, other }) => {
      expect(stateOf(other, RULES)).toBe(stateOf(all, RULES));
    }),
    runs,
  );
});

test('rules that change nothing change nothing: not the text, not the state', () => {
  fc.assert(
    fc.property(historyOf(oru), (messages) => {
      for (const message of messages) {
        const reading = readOpened(openBytes(bytesOf(message), 'utf-8'), { version: 1, rules: IDLE });
        expect(reading.ruled).toBeUndefined();
        expect(reading.message).toBe(reading.opened.sent);
      }
      expect(stateOf(messages, IDLE)).toBe(stateOf(messages));
    }),
    runs,
  );
});
