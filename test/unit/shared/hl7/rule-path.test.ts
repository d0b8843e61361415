import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseRulePath, type RulePath, type Selector } from '../../../../shared/hl7/rule-path.ts';

/** Prints a path so that `parseRulePath` returns it again. */
function printRulePath({ segment, segments, field, repetitions, component, subcomponent }: RulePath): string {
  const start = segment + printSelector(segments, segment);
  if (field === undefined) return start;
  return `${start}-${field}${printSelector(repetitions, segment)}${below(component, subcomponent)}`;
}

const below = (component: number | undefined, subcomponent: number | undefined): string =>
  [component, subcomponent].flatMap((number) => (number === undefined ? [] : [`.${number}`])).join('');

function printSelector(selector: Selector | undefined, segment: string): string {
  if (selector === undefined) return '';
  if ('number' in selector) return `[${selector.number}]`;
  const { field, component, subcomponent, value } = selector;
  return `[${segment}-${field}${below(component, subcomponent)}=${value}]`;
}

const NOTHING = { segments: undefined, repetitions: undefined, component: undefined, subcomponent: undefined };

describe('a path of a rule', () => {
  test.each<[text: string, path: RulePath]>([
    ['NTE', { ...NOTHING, segment: 'NTE', field: undefined }],
    ['PID-8', { ...NOTHING, segment: 'PID', field: 8 }],
    [
      'PID-3[2].4.1',
      { ...NOTHING, segment: 'PID', field: 3, repetitions: { number: 2 }, component: 4, subcomponent: 1 },
    ],
    [
      'OBX[OBX-3.1=2951-2]-5',
      {
        ...NOTHING,
        segment: 'OBX',
        segments: { field: 3, component: 1, subcomponent: undefined, value: '2951-2' },
        field: 5,
      },
    ],
    [
      'PID-3[PID-3.5=SS]',
      {
        ...NOTHING,
        segment: 'PID',
        field: 3,
        repetitions: { field: 3, component: 5, subcomponent: undefined, value: 'SS' },
      },
    ],
    [
      'OBR[OBR-3=]-3',
      {
        ...NOTHING,
        segment: 'OBR',
        segments: { field: 3, component: undefined, subcomponent: undefined, value: '' },
        field: 3,
      },
    ],
    ['ZPI[3]', { ...NOTHING, segment: 'ZPI', segments: { number: 3 }, field: undefined }],
  ])('%s is read and printed', (text, path) => {
    expect(parseRulePath(text)).toEqual(path);
    expect(printRulePath(path)).toBe(text);
  });

  test.each([
    ['', 'is not a path'],
    ['pid-8', 'is not a path'],
    ['PID-', 'is not a path'],
    ['PID.8', 'is not a path'],
    ['PID-3.1.1.1', 'is not a path'],
    ['PID-0', '0 must be from 1 to 200'],
    ['PID-08', '08 must be from 1 to 200'],
    ['PID-201', '201 must be from 1 to 200'],
    ['PID-3.51', '51 must be from 1 to 50'],
    ['PID-3[0]', '0 must be from 1 to 1000'],
    ['PID-3[]', '[] selects nothing: write a number, or a value such as [PID-3.5=X]'],
    ['PID-3[PID-4.5=SS]', '[PID-4.5=SS] must name PID-3, such as [PID-3.5=X]'],
    ['NTE[OBX-3.1=X]', '[OBX-3.1=X] must name a field of NTE, such as [NTE-3.1=X]'],
    [`PID-3[PID-3.5=${'S'.repeat(201)}]`, '[PID-3.5=…] has more than 200 characters'],
    ['PID-3[PID-3.5=\u0001]', '[PID-3.5=…] must not have control characters'],
    [`PID-${'1'.repeat(600)}`, 'has more than 500 characters'],
  ])('%j is rejected', (text, fault) => {
    expect(parseRulePath(text)).toContain(fault);
  });

  test('a printed path is read as the same path', () => {
    const number = (max: number) => fc.integer({ min: 1, max });
    const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
    const below = { component: optional(number(50)), subcomponent: optional(number(50)) };
    const value = fc
      .string({ unit: 'grapheme', maxLength: 20 })
      // oxlint-disable-next-line no-control-regex
      .filter((text) => !/[\u0000-\u001f\u007f\u0085\u2028\u2029\]]/.test(text));
    const valid = ({ component, subcomponent, ...rest }: ReturnType<typeof shape>) => ({
      ...rest,
      component,
      subcomponent: component === undefined ? undefined : subcomponent,
    });
    const shape = (made: {
      field: number;
      component: number | undefined;
      subcomponent: number | undefined;
      value: string;
    }) => made;
    const paths = fc
      .record({
        segment: fc.constantFrom('PID', 'OBX', 'ZP1'),
        segments: optional(
          fc.oneof(
            fc.record({ number: number(1000) }),
            fc.record({ field: number(200), ...below, value }).map((each) => valid(shape(each))),
          ),
        ),
        field: optional(number(200)),
        byNumber: optional(number(1000)),
        byValue: optional(fc.record({ ...below, value })),
        ...below,
      })
      .map(({ byNumber, byValue, component, subcomponent, field, ...path }): RulePath => {
        const repetitions =
          byNumber !== undefined ? { number: byNumber } : byValue && valid({ field: field ?? 1, ...byValue });
        return field === undefined
          ? { ...NOTHING, ...path, field }
          : {
              ...path,
              field,
              repetitions,
              component,
              subcomponent: component === undefined ? undefined : subcomponent,
            };
      });
    fc.assert(
      fc.property(paths, (path) => {
        expect(parseRulePath(printRulePath(path))).toEqual(path);
      }),
    );
  });
});
