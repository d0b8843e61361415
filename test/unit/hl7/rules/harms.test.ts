import { describe, expect, test } from 'vitest';

import { applyRules } from '../../../../edge/hl7/rules/apply.ts';
import { senderRules } from '../../../../edge/members/sender-rules.ts';
import { documentToken } from '../../../../shared/hl7/document-token.ts';
import { encodeText } from '../../../../shared/hl7/encode.ts';
import { MAX_SEGMENTS, readMessage } from '../../../../shared/hl7/message.ts';
import { valueAt } from '../../../../shared/hl7/value.ts';
import { kindOf, ruled, ruledMessage } from './ruled.ts';

const obx = (code: string, status: string): string => `OBX|1|NM|${code}||1||||||${status}`;

describe('a correction or withdrawal', () => {
  test.each(['C', 'W', 'D', 'X', 'w'])('with OBX-11 %s is never dropped', (status) => {
    const lines = ['OBR|1', obx('A', status), 'NTE|1||a', obx('A', 'F'), 'NTE|1||b'];
    expect(ruled([{ verb: 'drop', path: 'OBX' }], lines).lines).toEqual(lines.slice(0, 3));
  });

  test('is never dropped if only OBR-25 states it', () => {
    const lines = (status: string) => [`OBR|1${'|'.repeat(24)}${status}`, obx('A', '')];
    expect(ruled([{ verb: 'drop', path: 'OBX' }], lines('C')).lines).toEqual(lines('C'));
    expect(ruled([{ verb: 'drop', path: 'OBX' }], lines('F')).lines).toHaveLength(1);
    const ofLaboratory = ['PID|1', 'OBR|1' + '|'.repeat(24) + 'C', 'ORC|RE', obx('A', '')];
    expect(ruled([{ verb: 'drop', path: 'OBX' }], ofLaboratory, 'OUL^R22').lines).toEqual(ofLaboratory);
  });

  test('is never dropped although a rule maps its status', () => {
    const rules = [
      { verb: 'map', path: 'OBX-11', values: { W: 'F' } },
      { verb: 'drop', path: 'OBX' },
    ];
    expect(ruled(rules, [obx('A', 'W')]).lines).toEqual([obx('A', 'F')]);
  });

  test.each([
    ['DG1', `DG1|1||I10${'|'.repeat(18)}D`],
    ['PR1', `PR1|1||X${'|'.repeat(17)}D`],
    ['IAM', 'IAM|1||P|||D'],
    ['PRB', 'PRB|DE|2026|X'],
  ])('%s of a deletion is never dropped', (path, line) => {
    expect(ruled([{ verb: 'drop', path }], [line], 'ADT^A08').lines).toEqual([line]);
  });

  test.each<[type: string, lines: string[], isIgnored: boolean]>([
    ['ORU^R01', ['PID|||1', 'OBR|1', obx('A', 'F')], true],
    ['ADT^A08', ['PID|||1'], true],
    ['MDM^T02', ['PID|||1', 'TXA|1'], true],
    ['SIU^S12', ['PID|||1'], true],
    ['ORU^R01', ['PID|||1', 'OBR|1', obx('A', 'F'), obx('B', 'C')], false],
    ['ORU^R01', ['PID|||1', `OBR|1${'|'.repeat(24)}X`], false],
    ['ADT^A08', ['PID|||1', 'IAM|1||P|||D'], false],
    ['ADT^A40', ['PID|||1', 'MRG|2'], false],
    ['ADT^A47', ['PID|||1', 'MRG|2'], false],
    ['ADT^A24', ['PID|||1', 'PID|||2'], false],
    ['ADT^A37', ['PID|||1', 'PID|||2'], false],
    ['ADT^A11', ['PID|||1'], false],
    ['ADT^A23', ['PID|||1'], false],
    ['ADT^A29', ['PID|||1'], false],
    ['ADT^A43', ['PID|||1', 'MRG|2'], false],
    ['MDM^T11', ['PID|||1', 'TXA|1'], false],
    ['MDM^T10', ['PID|||1', 'TXA|1'], false],
    ['PPR^PC3', ['PID|||1', 'PRB|DE|2026|X'], false],
  ])('%s with %j: ignored is %s', (type, lines, isIgnored) => {
    const { verdict, lines: after } = ruled([{ verb: 'ignore' }], lines, type);
    expect(verdict).toEqual(isIgnored ? { kind: 'ignore', rule: 1 } : undefined);
    expect(after).toEqual(lines);
  });
});

describe('identity', () => {
  test.each([
    ['PID-3', 'PID|||1^^^A^SS~2^^^B^SS'],
    ['MRG-1', 'MRG|1^^^A^SS'],
    ['PID-3', 'PID|||1^^^A^SS~""'],
  ])('%s keeps its last identifier', (path, line) => {
    expect(ruled([{ verb: 'drop', path: `${path}[${path}.5=SS]` }], [line], 'ADT^A40').lines).toEqual([line]);
  });

  test('is never copied from another patient', () => {
    const lines = ['PID|1||111|||||||||||||||A1', 'NTE|1||first', 'PID|2||222', 'PV1|1', 'NK1|1', 'OBR|1'];
    const rules = [
      { verb: 'copy', from: 'PID-18', path: 'PV1[PV1-19=]-19' },
      { verb: 'copy', from: 'PV1-19', path: 'OBR-20' },
    ];
    expect(ruled(rules, lines, 'ADT^A24').lines).toEqual(lines);
    expect(ruled([{ verb: 'copy', from: 'PID-3', path: 'NK1-33' }], lines, 'ADT^A24').lines[4]).toBe(
      `NK1|1${'|'.repeat(32)}222`,
    );
  });

  test.each<[name: string, from: string, path: string, lines: string[], copies: number]>([
    ['the order before', 'OBR-20', 'OBX-15', ['PID|1', 'OBR|1', 'ORC|1', 'OBX|1'], 0],
    ['another order', 'ORC-3', 'OBR-3', ['PID|1', 'ORC|RE||F1', 'OBR|1', 'OBR|2'], 1],
    ['another order, for a result', 'ORC-3', 'OBX-15', ['PID|1', 'ORC|RE||F1', 'OBR|1', 'OBX|1', 'OBR|2', 'OBX|2'], 1],
    ['a specimen of another order', 'SPM-4', 'OBX-15', ['PID|1', 'OBR|1', 'SPM|1|||BLD', 'OBR|2', 'OBX|1'], 0],
    ['the visit behind an order', 'PV1-3', 'OBX-15', ['PID|1', 'OBR|1', 'PV1|1||W', 'OBX|1'], 0],
    ['the visit before the orders', 'PV1-3', 'OBX-15', ['PID|1', 'PV1|1||W', 'OBR|1', 'OBX|1', 'OBR|2', 'OBX|1'], 2],
  ])('a value of %s is not copied', (_name, from, path, lines, copies) => {
    expect(ruled([{ verb: 'copy', from, path }], lines).changes).toHaveLength(copies);
  });

  test('in OUL is never copied from an ORC, which follows its OBR', () => {
    const lines = ['PID|1', 'SPM|1', 'OBR|1', 'ORC|RE||F1', 'OBR|2', 'ORC|RE||F2'];
    expect(ruled([{ verb: 'copy', from: 'ORC-3', path: 'OBR-3' }], lines, 'OUL^R22').lines).toEqual(lines);
  });

  test('is not deleted by a copied ""', () => {
    const lines = [`OBR|1||F1${'|'.repeat(17)}""`];
    expect(ruled([{ verb: 'copy', from: 'OBR-20', path: 'OBR-3' }], lines).lines).toEqual(lines);
  });
});

describe('a document', () => {
  const token = documentToken({ sha256: 'a'.repeat(43), size: 5000, width: 0, separator: '' });
  const lines = ['PID|1', 'OBR|1', `OBX|1|ED|A||x^application^pdf^Base64^${token}~b`, `OBX|2|ST|B||c`];
  const message = () =>
    readMessage(['MSH|^~\\&|LAB|HOSP|GW|X|2026||ORU^R01|1|P|2.5.1', ...lines].join('\r'), {
      documents: new Set([token]),
    });

  test.each([
    { verb: 'set', path: 'OBX[1]-5', value: 'x' },
    { verb: 'clear', path: 'OBX[1]-5' },
    { verb: 'set', path: 'OBX[1]-5[1].5', value: 'x' },
    { verb: 'trim', path: 'OBX[1]-5[1]' },
    { verb: 'join', path: 'OBX-5', by: ' ' },
    { verb: 'drop', path: 'OBX-5[1]' },
    { verb: 'copy', from: 'OBX-5', path: 'OBX[1]-15' },
    { verb: 'copy', from: 'OBX-5.5', path: 'OBX[1]-15' },
    { verb: 'set', path: 'OBX[1]-2', value: 'ST' },
    { verb: 'map', path: 'OBX-2', values: { ED: 'ST' } },
  ])('is neither changed nor copied by %j', (rule) => {
    expect(ruledMessage([rule], message()).lines[2]).toBe(lines[2]);
  });

  test('stays a document beside changed values', () => {
    const { message: after, changed } = ruledMessage([{ verb: 'set', path: 'OBX-5[2]', value: 'y' }], message());
    expect([...after.documents]).toEqual([token]);
    expect(after.lines).toContain(`${token}~y`);
    expect(changed).toEqual(['1 OBX^1^5^2 b>y']);
  });

  test('is shown with its size only', () => {
    const { changes } = ruledMessage([{ verb: 'drop', path: 'OBX' }], message());
    expect(changes[0]?.before).toBe('OBX|1|ED|A||x^application^pdf^Base64^(document of 5000 bytes)~b');
  });
});

describe('the sender’s notation', () => {
  const other = (rules: readonly unknown[], lines: readonly string[]) =>
    ruledMessage(rules, readMessage(['MSH#*!%$#LAB#HOSP#GW#X#2026##ORU*R01#1#P#2.5.1', ...lines].join('\r'))).lines;

  test('is used for values with its delimiters', () => {
    expect(other([{ verb: 'set', path: 'NTE-3', value: '50% | #1 *' }], ['NTE#1##x'])).toEqual([
      'NTE#1##50%E% | %F%1 %S%',
    ]);
    expect(other([{ verb: 'set', path: 'PID-5.1.2', value: '|^~\\&' }], ['PID#####A*B!C'])).toEqual([
      'PID#####A$|^~\\&*B!C$|^~\\&',
    ]);
  });

  test('without subcomponents writes none', () => {
    const message = readMessage('MSH|^~\\|LAB|HOSP|GW|X|2026||ORU^R01|1|P|2.5.1\rPID|||1^^^A&B');
    const rules = [
      { verb: 'default', path: 'PID-11.1.2', value: 'x' },
      { verb: 'authority', path: 'PID-3', namespace: 'A', universalId: '1.2', replaces: 'A&B' },
      { verb: 'split', path: 'PID-3.1', by: '1', into: 'subcomponents' },
    ];
    expect(ruledMessage(rules.slice(0, 2), message).lines).toEqual(['PID|||1^^^A']);
  });

  test('stays in other fields, byte for byte', () => {
    const rest = 'a\\X4D\\b\\Zlocal\\^^~~&&\\unfinished||""|';
    const { lines } = ruled([{ verb: 'set', path: 'PID-8', value: 'F' }], [`PID|||${rest}|x|M`]);
    expect(lines[0]).toMatch(/^PID\|\|\|a\\X4D\\b\\Zlocal\\\^\^~~&&\\unfinished\|\|""\|/);
  });

  test('has the character set of the message', () => {
    const text = 'MSH|^~\\&|LAB|HOSP|GW|X|2026||ORU^R01|1|P|2.5.1||||||8859/1\rPID|||1||M\\XFC\\ller|||U';
    const bytes = encodeText(text, 'iso-8859-1') ?? new Uint8Array();
    const { message } = ruledMessage([{ verb: 'map', path: 'PID-8', values: { U: '' } }], readMessage(bytes));
    expect(message.charset).toBe('iso-8859-1');
    const [pid] = message.named('PID');
    expect(pid && valueAt(pid, 5)).toBe('Müller');
  });
});

describe('the cost of rules', () => {
  const many = (line: string) => Array.from({ length: MAX_SEGMENTS - 2 }, () => line);
  const often = (rule: object): object[] => Array.from({ length: 50 }, () => rule);

  test.each([
    { verb: 'map', path: 'OBX-8', values: { Q: 'H' } },
    { verb: 'set', path: 'OBX-13', value: 'x'.repeat(1000) },
    { verb: 'set', path: 'OBX-200', value: 'x' },
    { verb: 'map', path: 'OBX[OBX-3.1=Q]-8', values: { Q: 'H' } },
    { verb: 'copy', from: 'PID-3', path: 'OBX-15' },
    { verb: 'set', path: 'PID-30', value: 'Y', when: { all: often({ path: 'OBX-5', like: '*?#?#*5' }).slice(0, 10) } },
  ])('is bounded for %j', (rule) => {
    const sent = ruled([], ['PID|||1', ...many('OBX|1|ST|K^Potassium^L||4 |mmol/L')]).message;
    const result = applyRules(sent, senderRules.parse(often(rule)), kindOf(sent));
    expect(result.tooCostly).toBe(true);
    expect(result.message).toBe(sent);
    expect(result.changes).toEqual([]);
  });

  test('has room for the largest message with a few rules', () => {
    const rules = [
      { verb: 'map', path: 'OBX-11', values: { f: 'F' } },
      { verb: 'drop', path: 'NTE' },
    ];
    const { tooCostly, lines, changes } = ruled(rules, ['PID|||1', ...many('OBX|1|ST|K||4||||||f')]);
    expect(tooCostly).toBe(false);
    expect(lines[19_000]).toBe('OBX|1|ST|K||4||||||F');
    expect(changes).toHaveLength(1000);
  });
});
