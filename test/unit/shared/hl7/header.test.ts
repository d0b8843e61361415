import { describe, expect, it } from 'vitest';
import { Fault } from '../../../../shared/fault.ts';
import { missingHeaderFields, NO_HEADER, readHeader, salvageHeader } from '../../../../shared/hl7/header.ts';
import { readMessage } from '../../../../shared/hl7/message.ts';

const FULL =
  'MSH|^~\\&|APP^1.2^ISO|FAC|RAPP|RFAC|20260102030405+0100||ADT^A01^ADT_A01|ID-1|P^A|2.5.1^DEU|||AL|NE|AUT|UTF-8~8859/1';
const header = (text: string) => readHeader(readMessage(text));
const bytes = (text: string) => new TextEncoder().encode(text);

describe('readHeader', () => {
  it('reads the fields of MSH', () => {
    expect(header(FULL)).toMatchObject({
      sendingApplication: 'APP',
      sendingFacility: 'FAC',
      receivingApplication: 'RAPP',
      receivingFacility: 'RFAC',
      dateTime: '20260102030405+0100',
      messageType: 'ADT',
      triggerEvent: 'A01',
      messageStructure: 'ADT_A01',
      controlId: 'ID-1',
      processingId: 'P',
      versionId: '2.5.1',
      acceptAcknowledgment: 'AL',
      applicationAcknowledgment: 'NE',
      characterSets: ['UTF-8', '8859/1'],
    });
    expect(missingHeaderFields(header(FULL))).toEqual([]);
  });

  it.each(['MSH|^~\\&', 'MSH|^~\\&|', 'MSH|^~\\&|APP|FAC', 'MSH|^~\\&|""|||||||""|""|""'])(
    'reads %j, truncated, and reports the missing fields',
    (text) => {
      expect(missingHeaderFields(header(text)).map(({ code, at }) => [code, at])).toEqual([
        ['101', 'MSH^1^9^1^1'],
        ['101', 'MSH^1^9^1^2'],
        ['101', 'MSH^1^10'],
        ['101', 'MSH^1^12'],
      ]);
    },
  );

  it('reads the header of a batch from its first MSH, else from its first segment', () => {
    const batch = `FHS|^~\\&|F|G|H|I|2026||||FILE-1\rBHS|^~\\&|F\r${FULL}\rBTS|1\rFTS|1`;
    expect(header(batch).controlId).toBe('ID-1');
    expect(header('FHS|^~\\&|F|G|H|I|2026||||FILE-1')).toMatchObject({
      sendingApplication: 'F',
      controlId: 'FILE-1',
      messageType: undefined,
    });
  });
});

describe('salvageHeader', () => {
  it('reads the header of bytes that do not decode', () => {
    const broken = Uint8Array.from([...bytes(`${FULL.replace('~8859/1', '')}\rPID|1||1||M`), 0xfc, 0x6c]);
    expect(() => readMessage(broken)).toThrow(Fault);
    expect(salvageHeader(broken)).toMatchObject({ controlId: 'ID-1', charset: 'iso-8859-1' });
  });

  it.each(['', 'hello', 'MSH', 'MSH|^^^^|A', '{}'])('is empty for %j', (text) => {
    expect(salvageHeader(bytes(text))).toEqual(NO_HEADER);
  });
});
