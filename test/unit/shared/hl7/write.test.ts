import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECOMMENDED, type Delimiters } from '../../../../shared/hl7/delimiters.ts';
import { writeMessage } from '../../../stack/tools/hl7-text.ts';
import { readMessage, type Segment } from '../../../../shared/hl7/message.ts';
import { valueAt } from '../../../../shared/hl7/value.ts';
import {
  writeSegment,
  type ComponentContent,
  type FieldContent,
  type RepetitionContent,
} from '../../../../shared/hl7/write.ts';
import { inputs } from '../../../stack/tools/size.ts';

const delimiters = fc
  .shuffledSubarray(Array.from('|^~\\&#*:!%$@;+'), { minLength: 6, maxLength: 6 })
  .map(
    ([field = '', component = '', repetition = '', escape = '', subcomponent = '', truncation = '']): Delimiters => ({
      field,
      component,
      repetition,
      escape,
      subcomponent,
      truncation,
    }),
  );
const leaf = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0')) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...Array.from('|^~\\&#"\r\nXFSTRE.br')), minLength: 1 }) },
  fc.constant(null),
  fc.constant(''),
);
const component = fc.array(leaf, { minLength: 1, maxLength: 3 });
const repetition = fc.array(component, { minLength: 1, maxLength: 3 });
const field = fc.array(repetition, { minLength: 1, maxLength: 3 });
const fields = fc.array(field, { minLength: 1, maxLength: 6 });

const isList = <T>(content: T | readonly T[]): content is readonly T[] => Array.isArray(content);

/** Every leaf of a content with its numbers. */
function leavesOf(content: FieldContent): { numbers: [number, number, number]; leaf: string | null }[] {
  const listed = <T>(value: T | readonly T[]): readonly T[] => (isList(value) ? value : [value]);
  return listed<RepetitionContent>(content).flatMap((repetition, r) =>
    listed<ComponentContent>(repetition).flatMap((component, c) =>
      listed(component).map((leaf, s) => ({
        numbers: [r + 1, c + 1, s + 1] as [number, number, number],
        leaf: leaf === undefined || Array.isArray(leaf) ? '' : leaf,
      })),
    ),
  );
}

const written = (segment: Segment, number: number, [r, c, s]: [number, number, number]) =>
  valueAt(segment, number, r, c, s) ?? (valueAt(segment, number, r, c, s) === null ? null : '');

describe('write, then read', () => {
  it('is identity, for any values and any delimiters, through bytes', () => {
    fc.assert(
      fc.property(delimiters, fields, (delimiters, fields) => {
        const syntax = { delimiters, charset: 'utf-8' } as const;
        const text = `${writeSegment('MSH', ['A'], syntax)}\r${writeSegment('ZZZ', fields, syntax)}\r`;
        const segment = readMessage(new TextEncoder().encode(text)).segments[1];
        if (segment === undefined) throw new Error('no segment');
        fields.forEach((content, at) => {
          for (const { numbers, leaf } of leavesOf(content)) {
            // An empty leaf at an end is not written: absent reads as empty here.
            expect(written(segment, at + 1, numbers)).toBe(leaf);
          }
        });
      }),
      { numRuns: inputs(300) },
    );
  });

  it('writes a message as it was read', () => {
    fc.assert(
      fc.property(fc.array(fields, { maxLength: 4 }), fc.constantFrom('\r', '\n', '\r\n'), (segments, end) => {
        const syntax = { delimiters: RECOMMENDED, charset: 'utf-8' } as const;
        const lines = ['MSH|^~\\&|A', ...segments.map((fields) => writeSegment('ZZZ', fields, syntax))];
        const read = readMessage(lines.map((line) => line + end).join(''));
        expect(writeMessage(read)).toBe(lines.map((line) => `${line}\r`).join(''));
        expect(readMessage(writeMessage(read)).segments.map(({ raw }) => raw)).toEqual(lines);
      }),
      { numRuns: inputs(100) },
    );
  });

  it.each<[FieldContent[], string]>([
    [['a', undefined, 'b', '', undefined], 'ZZZ|a||b'],
    [[[['a', 'b'], 'c']], 'ZZZ|a^b~c'],
    [[[[['a', 'b'], undefined, 'd', undefined]]], 'ZZZ|a&b^^d'],
    [[null, '""'], 'ZZZ|""|\\X2222\\'],
    [['two\nlines'], 'ZZZ|two\\X0A\\lines'],
    [[], 'ZZZ'],
  ])('%j is %s', (fields, raw) => {
    expect(writeSegment('ZZZ', fields, { delimiters: RECOMMENDED, charset: 'utf-8' })).toBe(raw);
  });
});
