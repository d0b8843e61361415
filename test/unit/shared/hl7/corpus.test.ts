/**
 * The reader on every message of the corpus, with two other readers as oracles. Both oracles are right about positions, but
 * neither knows all escapes, byte order marks or `""`; the tests name these differences.
 */
import { Hl7Message } from '@medplum/core';
import { Message as NodeHl7Message } from 'node-hl7-client';
import { describe, expect, it } from 'vitest';
import { envelopeFault } from '../../../../edge/hl7/message/envelope.ts';
import { readHeader } from '../../../../shared/hl7/header.ts';
import { isSegmentId, readMessage, type Message, type Segment } from '../../../../shared/hl7/message.ts';
import { rawAt, repetitions, valueAt } from '../../../../shared/hl7/value.ts';
import { writeMessage } from '../../../stack/tools/hl7-text.ts';
import { corpus } from '../../../inputs/hl7-corpus.ts';

const messages = corpus();

// Java source, not HL7: its lines end with the two characters `\r`, which the others drop and we keep.
const JAVA_SOURCE = ['linuxforhealth/sample_unix.hl7', 'linuxforhealth/sample_win.hl7'];
// They begin with FHS, which the others refuse.
const BATCHES = [
  'reportstream/compare-test-files--test-0001-input-covid-19.hl7',
  'reportstream/hl7_test_files--batch_message.hl7',
];
const comparable = messages.filter(({ name }) => !JAVA_SOURCE.includes(name) && !BATCHES.includes(name));

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

interface Position {
  readonly at: string;
  readonly numbers: readonly [field: number, repetition: number, component: number, subcomponent: number];
}

/** Every position at which a segment has something, separators themselves excepted. */
function* positionsOf(segment: Segment): Iterable<Position> {
  const { component, subcomponent } = segment.source.delimiters;
  for (let field = segment.isDeclaring ? 3 : 1; field < segment.fields().length; field += 1) {
    for (const { repetition, raw } of repetitions(segment, field)) {
      for (const [c, content] of raw.split(component).entries()) {
        for (const s of content.split(subcomponent).keys()) {
          const at = `${segment.id}[${segment.sequence}]-${field}[${repetition}].${c + 1}.${s + 1}`;
          yield { at, numbers: [field, repetition, c + 1, s + 1] };
        }
      }
    }
  }
}

describe('every message of the corpus', () => {
  it('has 413 messages', () => {
    expect(messages).toHaveLength(413);
  });

  it.each(messages)('$name is read and written without a change', ({ bytes }) => {
    const message = readMessage(bytes);
    expect(message.segments.map(({ id }) => id).filter((id) => !isSegmentId(id))).toEqual([]);
    expect(message.text).not.toContain('\ufffd');
    expect(readHeader(message).segment?.id).toBe('MSH');
    const again: Message = readMessage(writeMessage(message));
    expect(again.segments.map(({ raw }) => raw)).toEqual(message.segments.map(({ raw }) => raw));
  });

  it('contains batches and files of several messages, which the gateway recognizes', () => {
    const notSingle = messages.filter(({ bytes }) => envelopeFault(readMessage(bytes)) !== undefined);
    expect(notSingle.map(({ name }) => name)).toEqual(expect.arrayContaining(BATCHES));
  });
});

describe('@medplum/core', () => {
  it('finds an equal text at every position, except that it does not decode escapes and ""', () => {
    let compared = 0;
    let unescaped = 0;
    for (const { name, bytes } of comparable) {
      // It takes the end of the last segment for an empty one.
      const theirs = Hl7Message.parse(textOf(bytes)).segments.filter((segment) => segment.name !== '');
      const ours = readMessage(bytes).segments;
      expect(
        theirs.map((segment) => segment.name),
        name,
      ).toEqual(ours.map(({ id }) => id));
      for (const segment of ours) {
        for (const { at, numbers } of positionsOf(segment)) {
          const [field, repetition, component, subcomponent] = numbers;
          const text = theirs[segment.index]?.getComponent(field, component, subcomponent - 1, repetition - 1);
          expect(text, `${name} ${at}`).toBe(rawAt(segment, ...numbers));
          compared += 1;
          if (valueAt(segment, ...numbers) !== text) unescaped += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(35_000);
    expect(unescaped).toBeGreaterThan(0);
  });

  it('rejects a byte order mark, which the gateway accepts', () => {
    const text = '\ufeffMSH|^~\\&|A';
    expect(() => Hl7Message.parse(text)).toThrow();
    expect(readMessage(text).segments).toHaveLength(1);
  });

  it('reads "" as a text of two quotes; the gateway reads null', () => {
    const text = 'MSH|^~\\&|A\rPID|1||""';
    expect(Hl7Message.parse(text).getSegment('PID')?.getComponent(3, 1)).toBe('""');
    expect(readMessage(text).segments.map((segment) => valueAt(segment, 3))).toEqual(['A', null]);
  });
});

// node-hl7-client drops a value of one space, keeps `\.br\` as written, and keeps `""`.
const KNOWN_DIFFERENCES: readonly string[] = [
  'linuxforhealth/SegmentUtilTest-07.hl7 OBX[1]-13[1].1.1',
  'reportstream/HL7_to_INTERNAL--FLFHospital-SARSCOV2-20200317-0001.hl7 NTE[1]-3[1].1.1',
  'reportstream/omlo21--oml_o21-full.hl7 IN1[1]-5[1].2.1',
  'reportstream/omlo21--oml_o21-full.hl7 IN1[1]-5[1].6.1',
  'reportstream/omlo21--oml_o21-full.hl7 IN1[1]-19[1].2.1',
  'reportstream/omlo21--oml_o21-full.hl7 IN1[1]-19[1].6.1',
];

describe('node-hl7-client', () => {
  it('finds an equal text in the first segment of each name, except for the known differences', () => {
    const differences: string[] = [];
    let compared = 0;
    for (const { name, bytes } of comparable) {
      const theirs = new NodeHl7Message({ text: textOf(bytes) });
      for (const segment of readMessage(bytes).segments) {
        if (segment.sequence > 1 || segment.isDeclaring) continue;
        for (const { at, numbers } of positionsOf(segment)) {
          const [field, repetition, component, subcomponent] = numbers;
          if (repetition > 1 || subcomponent > 1) continue;
          compared += 1;
          const text = theirs.get(`${segment.id}.${field}.${component}`).toString();
          if (text !== (valueAt(segment, ...numbers) ?? '')) differences.push(`${name} ${at}`);
        }
      }
    }
    expect(compared).toBeGreaterThan(20_000);
    expect(differences).toEqual(KNOWN_DIFFERENCES);
  });

  it('rejects a byte order mark, which the gateway accepts', () => {
    expect(() => new NodeHl7Message({ text: '\ufeffMSH|^~\\&|A|||||||1' })).toThrow(/MSH/);
  });
});
