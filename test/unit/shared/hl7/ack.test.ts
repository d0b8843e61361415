import { Hl7Message } from '@medplum/core';
import fc from 'fast-check';
import { Message as NodeHl7Message } from 'node-hl7-client';
import simpleHl7 from 'simple-hl7';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../../../shared/fault.ts';
import { buildAck, errorsOfFault, MAX_ERR_SEGMENTS, type AckError } from '../../../../shared/hl7/ack.ts';
import { ackDecision } from '../../../../shared/hl7/ack-mode.ts';
import { applicationCodeFor, hl7Fault, type ApplicationCode } from '../../../../shared/hl7/error-code.ts';
import { NO_HEADER, readHeader, salvageHeader } from '../../../../shared/hl7/header.ts';
import { readMessage } from '../../../../shared/hl7/message.ts';
import { readPath } from '../../../stack/tools/hl7-path.ts';
import { corpus } from '../../../inputs/hl7-corpus.ts';
import { inputs } from '../../../stack/tools/size.ts';

const at = new Date('2026-01-02T03:04:05.678Z');
const ackControlId = 'ACK-1';
const ADT = 'MSH|^~\\&|APP^1.2^ISO|FAC|RAPP|RFAC|20260102||ADT^A01^ADT_A01|ID\\T\\1|T|2.5^DEU||||||8859/1\rPID|1';
const header = readHeader(readMessage(ADT));
const missing: AckError = {
  code: '101',
  severity: 'E',
  at: 'PID^1^3^1^4',
  message: 'PID-3 is required',
  reason: 'no-identifying-number',
  diagnostics: 'request 7',
};
const skipped: AckError = { code: '103', severity: 'W', at: 'PID^1^8', message: 'a | was not mapped' };
const lines = (text: string): string[] => text.split('\r');

describe('buildAck', () => {
  it('swaps sender and receiver, copies MSH-11 and MSH-12 and echoes MSH-10, without an ERR for AA', () => {
    expect(lines(buildAck({ header, code: 'AA', ackControlId, at }).text)).toEqual([
      'MSH|^~\\&|RAPP|RFAC|APP^1.2^ISO|FAC|20260102030405.678+0000||ACK^A01^ACK|ACK-1|T|2.5^DEU||||||8859/1',
      'MSA|AA|ID\\T\\1',
      '',
    ]);
  });

  it('has one escaped ERR for each fault, errors before warnings', () => {
    expect(lines(buildAck({ header, code: 'AE', errors: [skipped, missing], ackControlId, at }).text).slice(1)).toEqual(
      [
        'MSA|AE|ID\\T\\1|PID-3 is required',
        'ERR||PID^1^3^1^4|101^Required field missing^HL70357|E|no-identifying-number^^L||request 7|PID-3 is required',
        'ERR||PID^1^8|103^Table value not found^HL70357|W||||a \\F\\ was not mapped',
        '',
      ],
    );
  });

  it('may warn with AA, and then has no text in MSA-3', () => {
    const ack = buildAck({ header, code: 'AA', errors: [skipped], ackControlId, at });
    expect(lines(ack.text)[1]).toBe('MSA|AA|ID\\T\\1');
    expect(lines(ack.text)[2]).toContain('|W|');
  });

  it("uses the sender's delimiters", () => {
    const own = readHeader(readMessage('MSH*:~!%#*S:1*F*R*RF*20200101**ADT:A01*ID*P*2.5.1\rPID*1'));
    expect(lines(buildAck({ header: own, code: 'AE', errors: [missing], ackControlId: 'A*1', at }).text)).toEqual([
      'MSH*:~!%#*R*RF*S:1*F*20260102030405.678+0000**ACK:A01:ACK*A!F!1*P*2.5.1',
      'MSA*AE*ID*PID-3 is required',
      'ERR**PID:1:3:1:4*101:Required field missing:HL70357*E*no-identifying-number::L**request 7*PID-3 is required',
      '',
    ]);
  });

  it.each([
    ['no MSH at all', NO_HEADER],
    ['MSH cut short', readHeader(readMessage('MSH|^~\\&|APP'))],
    ['MSH-10 null', readHeader(readMessage('MSH|^~\\&|APP|||||||""'))],
  ])('rejects what has no control id to echo: %s', (_, broken) => {
    const ack = buildAck({ header: broken, code: 'AE', errors: [missing], ackControlId, at });
    expect(ack.code).toBe('AR');
    const read = readMessage(ack.text);
    expect([readPath(read, 'MSA-1'), readPath(read, 'MSA-2')]).toEqual(['AR', '']);
    expect([readPath(read, 'MSH-11'), readPath(read, 'MSH-12'), readPath(read, 'MSH-9')]).toEqual([
      'P',
      '2.5.1',
      'ACK',
    ]);
    expect(ack.text).toContain('ERR||MSH^1^10|101^Required field missing^HL70357|E|');
    expect(buildAck({ header: broken, code: 'CE', ackControlId, at }).code).toBe('CR');
  });

  it('reports a missing control id once', () => {
    const known: AckError = { code: '101', severity: 'E', at: 'MSH^1^10', message: 'MSH-10 is required' };
    expect(
      buildAck({ header: NO_HEADER, code: 'AE', errors: [known], ackControlId, at }).text.match(/ERR/g),
    ).toHaveLength(1);
  });

  it('lists a limited number of errors', () => {
    const errors = Array.from({ length: 5000 }, () => skipped);
    const ack = buildAck({ header, code: 'AE', errors: [...errors, missing], ackControlId, at });
    const read = readMessage(ack.text);
    expect(read.segments.filter(({ id }) => id === 'ERR')).toHaveLength(MAX_ERR_SEGMENTS);
    expect(readPath(read, 'ERR[1]-4')).toBe('E');
    expect(readPath(read, `ERR[${MAX_ERR_SEGMENTS}]-8`)).toBe('4902 more findings are not listed');
  });
});

describe("the sender's version", () => {
  const of = (version: string, errors: readonly AckError[]) =>
    lines(
      buildAck({
        header: readHeader(readMessage(ADT.replace('2.5^DEU', version))),
        code: errors.some(({ severity }) => severity === 'E') ? 'AE' : 'AA',
        errors,
        ackControlId,
        at,
      }).text,
    );
  const bare: AckError = { code: '207', severity: 'E', message: 'no place' };

  it.each(['2.1', '2.2', '2.3', '2.3.1', '2.4'])('%s: MSH-9 without structure, ERR-1 only', (version) => {
    expect(of(version, [skipped, missing, bare])).toEqual([
      `MSH|^~\\&|RAPP|RFAC|APP^1.2^ISO|FAC|20260102030405.678+0000||ACK^A01|ACK-1|T|${version}||||||8859/1`,
      'MSA|AE|ID\\T\\1|PID-3 is required',
      'ERR|PID^1^3^101&Required field missing&HL70357~^^^207&Application internal error&HL70357',
      '',
    ]);
  });

  it.each(['2.3', '2.4'])('%s: omits warnings, because ERR has no severity in this version', (version) => {
    expect(of(version, [skipped])).toHaveLength(3);
  });

  it.each(['2.5', '2.5.1', '2.6', '2.7', '2.8.2', '3.0', ''])('%j: is written as 2.5.1', (version) => {
    const [msh, , err] = of(version, [missing]);
    expect(msh).toContain('|ACK^A01^ACK|');
    expect(err).toMatch(/^ERR\|\|PID\^1\^3\^1\^4\|101\^/);
  });
});

describe("the sender's character set", () => {
  const encode = (text: string, ...tail: number[]) => Uint8Array.from([...new TextEncoder().encode(text), ...tail]);

  it('8859/1: echoes the bytes of the sender', () => {
    const bytes = Uint8Array.from(`MSH|^~\\&|Zürich|F|R|RF|2026||ADT^A01|Ö1|P|2.5.1||||||8859/1\r`, (c) =>
      c.charCodeAt(0),
    );
    const ack = buildAck({ header: readHeader(readMessage(bytes)), code: 'AA', ackControlId, at });
    expect(readMessage(ack.bytes).text).toBe(ack.text);
    expect(ack.bytes).toContain(0xfc);
    expect(ack.bytes).toContain(0xd6);
  });

  it.each([
    [[0xff, 0xfe], true],
    [[0xfe, 0xff], false],
  ] as const)('UTF-16 with the mark %j is answered in UTF-16', (mark, little) => {
    const text = 'MSH|^~\\&|Zürich|F|R|RF|2026||ADT^A01|1|P|2.5.1';
    const units = Array.from(text, (c) => c.charCodeAt(0)).flatMap((code) =>
      little ? [code & 0xff, code >> 8] : [code >> 8, code & 0xff],
    );
    const ack = buildAck({
      header: readHeader(readMessage(Uint8Array.from([...mark, ...units]))),
      code: 'AA',
      ackControlId,
      at,
    });
    expect([...ack.bytes.subarray(0, 2)]).toEqual(mark);
    expect(readPath(readMessage(ack.bytes), 'MSH-5')).toBe('Zürich');
  });

  it('echoes bytes that do not decode unchanged', () => {
    const bytes = Uint8Array.from([
      ...encode('MSH|^~\\&|Z'),
      0xfc,
      ...encode('rich|F|R|RF|2026||ADT^A01|1|P|2.5.1||||||UNICODE UTF-8\rPID|1'),
    ]);
    expect(() => readMessage(bytes)).toThrow(Fault);
    const ack = buildAck({ header: salvageHeader(bytes), code: 'AE', ackControlId, at });
    expect(new TextDecoder('latin1').decode(ack.bytes)).toContain('|R|RF|Zürich|F|');
    expect(ack.code).toBe('AE');
  });
});

describe('errorsOfFault', () => {
  it('has the location, the code of table 0357 and the reason of the fault', () => {
    expect(errorsOfFault(hl7Fault('102', 'PID^1^7', 'not a day of the calendar', 'bad-time'))).toEqual([
      { code: '102', severity: 'E', at: 'PID^1^7', message: 'not a day of the calendar', reason: 'bad-time' },
    ]);
  });

  it('is 207 for any other code', () => {
    expect(errorsOfFault(new Fault('invalid', 'no', { issues: [{ code: 'required', message: 'x' }] }), 'W')).toEqual([
      { code: '207', severity: 'W', message: 'x' },
    ]);
    expect(errorsOfFault(new Fault('conflict', 'no'))).toEqual([{ code: '207', severity: 'E', message: 'no' }]);
  });
});

describe('applicationCodeFor', () => {
  it.each<[string[], ApplicationCode]>([
    [[], 'AA'],
    [['100'], 'AE'],
    [['101', '102', '103', '204', '205', '207'], 'AE'],
    [['200'], 'AR'],
    [['201'], 'AR'],
    [['202'], 'AR'],
    [['101', '203'], 'AR'],
    [['206'], 'AR'],
  ])('%j is %s', (codes, code) => {
    expect(applicationCodeFor(codes)).toBe(code);
  });
});

describe('ackDecision (HL7 v2.5.1 §2.9)', () => {
  it.each<[string, string, ApplicationCode, string, string | undefined, string | undefined, string | undefined]>([
    // MSH-15, MSH-16, outcome: mode, accept, application, the code to send
    ['', '', 'AA', 'original', undefined, 'AA', 'AA'],
    ['', '', 'AR', 'original', undefined, 'AR', 'AR'],
    ['""', '', 'AE', 'original', undefined, 'AE', 'AE'],
    ['AL', 'NE', 'AA', 'enhanced', 'CA', undefined, 'CA'],
    ['AL', 'NE', 'AE', 'enhanced', 'CE', undefined, 'CE'],
    ['AL', 'NE', 'AR', 'enhanced', 'CR', undefined, 'CR'],
    ['NE', 'AL', 'AA', 'enhanced', undefined, 'AA', 'AA'],
    ['NE', 'AL', 'AE', 'enhanced', undefined, 'AE', 'AE'],
    ['NE', 'NE', 'AE', 'enhanced', undefined, undefined, undefined],
    ['AL', 'AL', 'AA', 'enhanced', 'CA', 'AA', 'AA'],
    ['ER', 'AL', 'AA', 'enhanced', undefined, 'AA', 'AA'],
    ['ER', 'AL', 'AE', 'enhanced', 'CE', 'AE', 'AE'],
    ['SU', 'ER', 'AA', 'enhanced', 'CA', undefined, 'CA'],
    ['SU', 'ER', 'AR', 'enhanced', undefined, 'AR', 'AR'],
    ['NE', '', 'AA', 'enhanced', undefined, undefined, undefined],
    ['', 'SU', 'AE', 'enhanced', undefined, undefined, undefined],
    ['al', '', 'AA', 'enhanced', 'CA', undefined, 'CA'],
    ['??', '', 'AA', 'enhanced', 'CA', undefined, 'CA'],
  ])('%j, %j, %s', (accept, application, outcome, mode, acceptCode, applicationCode, send) => {
    const text = `MSH|^~\\&|A|B|C|D|2026||ADT^A01|1|P|2.5.1|||${accept}|${application}`;
    expect(ackDecision(readHeader(readMessage(text)), outcome)).toEqual({
      mode,
      accept: acceptCode,
      application: applicationCode,
      send,
    });
  });
});

describe('other HL7 libraries', () => {
  const isOld = (version = '') => /^2\.[0-4](\.|$)/.test(version);
  const acks = corpus().flatMap(({ name, bytes }) => {
    const header = readHeader(readMessage(bytes));
    const errors = [missing, skipped];
    return [{ name, header, ...buildAck({ header, code: 'AE', errors, ackControlId, at }) }];
  });

  it('@medplum/core reads the ACK to every message of the corpus', () => {
    for (const { name, header, code, text } of acks) {
      const read = Hl7Message.parse(text);
      expect(read.getSegment('MSA')?.getComponent(1, 1), name).toBe(code);
      expect(read.getSegment('MSA')?.getComponent(2, 1), name).toBe(header.controlId ?? '');
      const [field, place] = isOld(header.versionId)
        ? [1, /^PID\^1\^3\^101&Required field missing&HL70357(~|$)/]
        : [2, /^PID\^1\^3\^1\^4$/];
      expect(read.getAllSegments('ERR')[0]?.getField(field)?.toString(), name).toMatch(place);
      expect(read.getAckType(), name).toBe(code);
    }
  });

  it('node-hl7-client reads the ACK to every message of the corpus', () => {
    for (const { name, header, code, text } of acks) {
      const read = new NodeHl7Message({ text });
      expect(read.get('MSA.1').toString(), name).toBe(code);
      expect(read.get('MSA.2').toString(), name).toBe(header.controlId ?? '');
      expect(read.get('MSH.9.1').toString(), name).toBe('ACK');
    }
  });

  it('simple-hl7 reads the ACK to every message of the corpus', () => {
    for (const { name, header, code, text } of acks) {
      const field = isOld(header.versionId) ? 1 : 3;
      const read = new simpleHl7.Parser({ segmentSeperator: '\r' }).parse(text);
      expect(read.getSegment('MSA')?.getField(1), name).toBe(code);
      expect(read.getSegment('MSA')?.getField(2), name).toBe(header.controlId ?? '');
      expect(read.getSegment('ERR')?.getField(field), name).toContain('101');
    }
  });

  it('our own reads the ACK to anything that begins like a message', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('|^~\\&#"\rMSHA1 ')) }), (tail) => {
        const ack = buildAck({
          header: salvageHeader(new TextEncoder().encode(`MSH|^~\\&|${tail}`)),
          code: 'AE',
          errors: [missing],
          ackControlId,
          at,
        });
        const read = readMessage(ack.bytes);
        expect(readPath(read, 'MSA-1')).toBe(ack.code);
        expect(readPath(read, 'ERR-2.3')).toBe('3');
      }),
      { numRuns: inputs(300) },
    );
  });
});
