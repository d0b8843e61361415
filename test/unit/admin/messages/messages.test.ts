/** A message as people read it: fields by their components, faults in their fields; and the log as a file. */
import { describe, expect, test } from 'vitest';

import { fileOf } from '../../../../edge/admin/messages/file.ts';
import { viewAck, viewMessage } from '../../../../edge/admin/messages/segments.ts';
import type { ListedRow } from '../../../../edge/store/message-search.ts';

const MESSAGE = [
  'MSH|^~\\&|LAB|EAST|GW|GW|20261101||ORU^R01|C1|P|2.5.1',
  'PID|1||4711^3^M10^EAST&1.2.3&ISO^MR~98^^^WEST||Lovelace^Ada\\T\\B||1970',
  'OBX|1|CWE|K^Potassium^L||high^too high^L',
  'OBX|2|TX|N^Note^L||one^two',
  'ZZZ|a^b',
].join('\r');
const view = (findings: Parameters<typeof viewMessage>[2] = []) =>
  viewMessage(new TextEncoder().encode(MESSAGE), null, findings);
const field = (path: string, segment: number, seen = view()) =>
  seen.segments[segment]?.fields.find((each) => each.path === path);

test('components have the names of their data type, which OBX-2 determines for OBX-5', () => {
  expect(field('PID-3', 1)?.repetitions).toEqual([
    [
      { number: 1, name: 'ID Number', value: '4711' },
      { number: 2, name: 'Check Digit', value: '3' },
      { number: 3, name: 'Check Digit Scheme', value: 'M10' },
      { number: 4, name: 'Assigning Authority', value: 'EAST&1.2.3&ISO' },
      { number: 5, name: 'Identifier Type Code', value: 'MR' },
    ],
    [
      { number: 1, name: 'ID Number', value: '98' },
      { number: 4, name: 'Assigning Authority', value: 'WEST' },
    ],
  ]);
  expect(field('PID-5', 1)?.repetitions).toEqual([
    [
      { number: 1, name: 'Family Name', value: 'Lovelace' },
      { number: 2, name: 'Given Name', value: 'Ada&B' },
    ],
  ]);
  expect(field('OBX-5', 2)?.repetitions[0]?.[1]).toEqual({ number: 2, name: 'Text', value: 'too high' });
  // A text is not cut. A segment outside every standard is shown as it was sent, and so are the delimiters.
  for (const [path, segment] of [
    ['OBX-5', 3],
    ['ZZZ-1', 4],
    ['MSH-2', 0],
    ['PID-7', 1],
  ] as const) {
    expect(field(path, segment)?.repetitions, path).toEqual([]);
  }
});

test('a fault is shown in the field of its segment, even if the field is empty', () => {
  const wrong = { severity: 'E', code: '101', message: 'is missing' };
  const seen = view([
    { ...wrong, at: 'OBX^2^3^1^1' },
    { ...wrong, at: 'PID^1^8' },
    { ...wrong, at: 'OBX^1' },
    { ...wrong, at: 'NK1^1^2' },
  ]);
  expect(field('OBX-3', 3, seen)?.findings).toMatchObject([wrong]);
  expect(field('OBX-3', 2, seen)?.findings).toEqual([]);
  expect(field('PID-8', 1, seen)).toMatchObject({ value: '', findings: [wrong] });
  expect(seen.segments[2]?.findings).toMatchObject([wrong]);
});

describe('a message of very many parts', () => {
  const HEAD = 'MSH|^~\\&|LAB|EAST|GW|GW|20261101||ORU^R01|C1|P|2.5.1';
  const viewOf = (lines: readonly string[], findings: Parameters<typeof viewMessage>[2] = []) =>
    viewMessage(new TextEncoder().encode([HEAD, ...lines].join('\r')), null, findings);

  test('empty fields are not listed, and long lists end with a count', () => {
    const { segments, moreSegments, text } = viewOf([`ZZZ${'|'.repeat(60_000)}x`, `ZZY${'|y'.repeat(60_000)}`]);
    expect(segments[1]).toMatchObject({ fields: [{ path: 'ZZZ-60000', value: 'x' }], moreFields: 0 });
    expect(segments[2]?.fields).toHaveLength(200);
    expect(segments[2]?.moreFields).toBe(59_800);
    expect(moreSegments).toBe(0);
    expect(text).toHaveLength(HEAD.length + 60_004 + 120_003 + 2);
  });

  test('repetitions and components are listed as far as a person reads, and all of them are in the value', () => {
    const value = `a${'^b'.repeat(500)}~`.repeat(500);
    const [, pid] = viewOf([`PID|1||${value}`]).segments;
    const field = pid?.fields.find(({ path }) => path === 'PID-3');
    expect(field).toMatchObject({ value, moreRepetitions: 451 });
    expect(field?.repetitions).toHaveLength(50);
    const components = viewOf(Array.from({ length: 999 }, () => `PID|1||${value.slice(0, 5000)}`)).segments.flatMap(
      ({ fields }) => fields.flatMap(({ repetitions }) => repetitions.flat()),
    );
    expect(components.length).toBeLessThanOrEqual(20_000);
  });

  test('beyond the first thousand, segments are counted, except segments with a fault', () => {
    const wrong = { severity: 'E', code: '101', message: 'is missing', at: 'OBX^15000^3' };
    const { segments, moreSegments } = viewOf(
      Array.from({ length: 15_000 }, () => 'OBX|1'),
      [wrong],
    );
    expect(segments).toHaveLength(1001);
    expect(moreSegments).toBe(14_000);
    expect(segments.at(-1)?.fields).toMatchObject([{ path: 'OBX-1' }, { path: 'OBX-3', findings: [wrong] }]);
  });
});

test('a file lists the outcomes of messages, without formulas and without data of a patient', async () => {
  const row: ListedRow = {
    message_id: 'm',
    received_at: '2026-11-01T00:00:00.000000Z',
    source: 'http',
    source_address: '192.0.2.1',
    tls_subject: null,
    client_id: 'svc-1',
    key_name: 'Lab, "east"',
    sending_application: '=1+1',
    sending_facility: '',
    control_id: '-77',
    message_type: 'ADT^A08',
    outcome: 'AE',
    took_ms: 7,
    warnings: 0,
    finding: '{"severity":"E","code":"101","reason":"missing"}',
    named: '[{"field":"PID-3","value":"4711","authority":""}]',
    patient: '{"id":"p","name":{"family":"Lovelace"},"said":"lovelace","number":"4711","authority":""}',
    total: 1,
  };
  async function* pages() {
    yield await Promise.resolve([row]);
    return undefined;
  }
  const textOf = async (type: 'csv' | 'ndjson') => {
    const parts: string[] = [];
    for await (const part of fileOf(type, pages())) parts.push(part);
    return parts.join('');
  };
  const [head, line] = (await textOf('csv')).split('\r\n');
  expect(head).toMatch(/^receivedAt,messageType,controlId,/);
  expect(line).toBe(
    `2026-11-01T00:00:00.000000Z,ADT^A08,'-77,'=1+1,,"Lab, ""east""",svc-1,http,192.0.2.1,AE,missing,0,7,m`,
  );
  expect(JSON.parse(await textOf('ndjson'))).toMatchObject({ controlId: '-77', reason: 'missing', tookMs: 7 });
  expect(await textOf('ndjson')).not.toContain('4711');
});

describe('a message', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  test('is a table of the sent fields, with MSH numbered as in the standard', () => {
    const { segments, text, problem } = viewMessage(bytes('MSH|^~\\&|A||B\rPID|1||X^^^Y~Z\r'), null);
    expect(problem).toBeNull();
    expect(text).toBe('MSH|^~\\&|A||B\nPID|1||X^^^Y~Z');
    expect(segments[0]?.fields.map(({ path, value }) => `${path}=${value}`)).toEqual([
      'MSH-1=|',
      'MSH-2=^~\\&',
      'MSH-3=A',
      'MSH-5=B',
    ]);
    expect(segments[1]?.fields.at(-1)).toMatchObject({
      path: 'PID-3',
      name: 'Patient Identifier List',
      value: 'X^^^Y~Z',
      repetitions: [[{ value: 'X' }, { value: 'Y' }], [{ value: 'Z' }]],
    });
  });

  test('is decoded by the key’s set, and an unknown set gets the reason', () => {
    const latin = Uint8Array.from('MSH|^~\\&|M\u00fcller', (character) => character.charCodeAt(0));
    expect(viewMessage(latin, 'ISO 8859-1').text).toContain('Müller');
    expect(viewMessage(bytes('hello'), null)).toMatchObject({
      segments: [],
      problem: expect.any(String),
      text: 'hello',
    });
    expect(viewAck(null)).toBeNull();
  });
});
