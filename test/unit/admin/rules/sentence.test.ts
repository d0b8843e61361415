/** Rules in words: each verb, and each part of a condition. */
import { expect, test } from 'vitest';

import { sentenceOf } from '../../../../edge/admin/rules/sentence.ts';
import { type SenderRule, senderRules } from '../../../../edge/members/sender-rules.ts';

const many = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`V${n}`, `W${n}`]));

const SENTENCES: readonly (readonly [sentence: string, rule: SenderRule])[] = [
  ['Set PID-8 to “U”.', { verb: 'set', path: 'PID-8', value: 'U' }],
  ['Set PID-8 to “U” where it is empty.', { verb: 'default', path: 'PID-8', value: 'U' }],
  ['Copy OBR-20 to OBR-3.', { verb: 'copy', from: 'OBR-20', path: 'OBR-3' }],
  ['Clear PID-19.', { verb: 'clear', path: 'PID-19' }],
  ['Remove NTE[NTE-2=I] from the message.', { verb: 'drop', path: 'NTE[NTE-2=I]' }],
  ['In PID-8, replace “W” by “F”.', { verb: 'map', path: 'PID-8', values: { W: 'F' } }],
  [
    'In PID-8, replace “W” by “F” and “U” by nothing, and clear any other value.',
    { verb: 'map', path: 'PID-8', values: { W: 'F', U: '' }, otherwise: 'clear' },
  ],
  [
    'In PV1-2, replace “V0” by “W0”, “V1” by “W1”, “V2” by “W2”, “V3” by “W3”, “V4” by “W4” and 2 more values.',
    { verb: 'map', path: 'PV1-2', values: many, otherwise: 'keep' },
  ],
  ['Split PID-5 at “,” into components.', { verb: 'split', path: 'PID-5', by: ',', into: 'components' }],
  ['Join the parts of PID-11 with “ ”.', { verb: 'join', path: 'PID-11', by: ' ' }],
  ['Remove white space around PID-5.1.', { verb: 'trim', path: 'PID-5.1' }],
  ['Read PID-7 as DD.MM.YYYY, and write it as an HL7 date.', { verb: 'date', path: 'PID-7', format: 'DD.MM.YYYY' }],
  ['Set the assigning authority of PID-3 to HOSP.', { verb: 'authority', path: 'PID-3', namespace: 'HOSP' }],
  [
    'Set the assigning authority of PID-3 to HOSP (1.2.3, ISO), where it is “OLD”.',
    {
      verb: 'authority',
      path: 'PID-3',
      namespace: 'HOSP',
      universalId: '1.2.3',
      universalIdType: 'ISO',
      replaces: 'OLD',
    },
  ],
  [
    'For ADT^A08 and ORU, if PV1-19 is absent or empty, PID-8 is present and PID-5.1 is like “ZZ*”: ignore the message.',
    {
      when: {
        types: ['ADT^A08', 'ORU'],
        all: [
          { path: 'PV1-19', is: 'absent' },
          { path: 'PID-8', is: 'present' },
          { path: 'PID-5.1', like: 'ZZ*' },
        ],
      },
      verb: 'ignore',
    },
  ],
  [
    'From LAB / NORTH, if PV1-2 is “E”: reject the message with the text “No visit.”.',
    {
      sender: { application: 'LAB', facility: 'NORTH' },
      when: { all: [{ path: 'PV1-2', equals: 'E' }] },
      verb: 'reject',
      text: 'No visit.',
    },
  ],
];

test.each(SENTENCES)('%s', (sentence, rule) => {
  expect(senderRules.safeParse([rule]).error?.issues).toBeUndefined();
  expect(sentenceOf(rule)).toBe(sentence);
});
