/** A batch is cut into its messages byte for byte, or refused whole. */
import { describe, expect, test } from 'vitest';

import { isBatch, MAX_BATCH_MESSAGES, messagesOf } from '../../../../edge/hl7/http/batch.ts';
import { Fault } from '../../../../shared/fault.ts';

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const text = (part: Uint8Array) => String.fromCharCode(...part);
const message = (id: number | string) => `MSH|^~\\&|A|B|C|D|2026||ADT^A08|${id}|P|2.5.1\rPID|1||${id}\r`;
const cut = (batch: string) => {
  const messages = messagesOf(bytes(batch));
  if (messages instanceof Fault) throw messages;
  return messages.map(text);
};
const fault = (batch: string) => {
  const refused = messagesOf(bytes(batch));
  return refused instanceof Fault ? `${refused.kind} ${refused.code} ${refused.issues[0]?.at}` : 'taken';
};
const BHS = 'BHS|^~\\&|A|B|C|D|2026||||B1\r';
const FHS = 'FHS|^~\\&|A|B|C|D|2026||||F1\r';

test.each([
  [BHS, true],
  [FHS, true],
  [`\u00ef\u00bb\u00bf\r\n${BHS}`, true],
  [message(1), false],
  ['', false],
  ['BHSX|', false],
  ['PID|1', false],
])('%j is a batch: %s', (body, is) => {
  expect(isBatch(bytes(body))).toBe(is);
});

describe('the messages of a batch', () => {
  test.each<[string, string, string[]]>([
    ['a batch', `${BHS}${message(1)}${message(2)}BTS|2\r`, [message(1), message(2)]],
    ['a file of one', `${FHS}${BHS}${message(1)}BTS|1\rFTS|1\r`, [message(1)]],
    [
      'a file of two',
      `${FHS}${BHS}${message(1)}BTS|1\r${BHS}${message(2)}${message(3)}BTS|2\rFTS|2\r`,
      [message(1), message(2), message(3)],
    ],
    ['a file without batches', `${FHS}${message(1)}FTS|1\r`, [message(1)]],
    ['no message', `${FHS}${BHS}BTS|0\rFTS|1\r`, []],
    ['a trailer without a count', `${BHS}${message(1)}BTS\r`, [message(1)]],
    ['other delimiters', `BHS*:~!%*A\r${message(1)}BTS*1*end\r`, [message(1)]],
  ])('%s', (_, batch, messages) => {
    expect(cut(batch)).toEqual(messages);
  });

  test('line ends and bytes are kept unchanged', () => {
    const odd = message('\u00e9').replaceAll('\r', '\r\n');
    expect(cut(`${BHS.replace('\r', '\r\n')}\r\n${odd}BTS|1`)).toEqual([odd]);
  });

  test('a batch has at most MAX_BATCH_MESSAGES messages', () => {
    const of = (count: number) =>
      `${BHS}${Array.from({ length: count }, (_, at) => message(at)).join('')}BTS|${count}\r`;
    expect(cut(of(MAX_BATCH_MESSAGES))).toHaveLength(MAX_BATCH_MESSAGES);
    expect(fault(of(MAX_BATCH_MESSAGES + 1))).toBe('too-large batch-too-long BHS^1');
  });
});

test.each([
  ['cut short in a message', `${BHS}${message(1)}MSH|^~\\&|A|B`, 'BTS^1'],
  ['a batch without an end in a file', `${FHS}${BHS}${message(1)}FTS|1\r`, 'BTS^1'],
  ['cut short behind a batch', `${FHS}${BHS}${message(1)}BTS|1\r`, 'FTS^1'],
  ['a message lost on the way', `${BHS}${message(1)}BTS|2\r`, 'BTS^1^1'],
  ['a message too many', `${BHS}${message(1)}${message(2)}BTS|1\r`, 'BTS^1^1'],
  ['a batch lost on the way', `${FHS}${BHS}${message(1)}BTS|1\rFTS|2\r`, 'FTS^1^1'],
  ['a batch within a batch', `${BHS}${BHS}${message(1)}BTS|1\rBTS|1\r`, 'BHS^1'],
  ['a segment outside a message', `${BHS}PID|1||9\r${message(1)}BTS|1\r`, 'PID^1'],
  ['a line that is not a segment', `${BHS}hello\rBTS|0\r`, '???^1'],
  ['an end without a beginning', `${BHS}BTS|0\rBTS|0\r`, 'BTS^1'],
])('%s: the complete batch is rejected', (_, batch, at) => {
  expect(fault(batch)).toBe(`invalid broken-batch ${at}`);
});
