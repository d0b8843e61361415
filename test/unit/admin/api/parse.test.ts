/** The findings of a request in plain words, each at its place. */
import { expect, test } from 'vitest';
import * as z from 'zod';

import { parse, parseMembers } from '../../../../edge/admin/api/parse.ts';
import { Fault } from '../../../../shared/fault.ts';

const schema = z.strictObject({
  name: z.string(),
  rows: z.array(z.object({ code: z.string().min(1).max(3) })).max(2),
  part: z.number().int().min(1).max(9).default(1),
  parts: z.number().int().default(1),
  when: z.object({}).optional(),
  isOn: z.boolean().optional(),
  outcome: z.enum(['', 'AA', 'AE']).default(''),
  own: z.string({ error: 'must be a name' }).optional(),
});

const findings = (work: () => unknown): [string, string[]] | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [error.message, error.issues.map(({ at = '', message }) => `${at}: ${message}`)];
  }
};

test.each([
  [{ rows: [] }, 'name', 'name: is required'],
  [{ name: 5, rows: [] }, 'name', 'name: must be a text'],
  [{ name: 'A', rows: {} }, 'rows', 'rows: must be a list'],
  [{ name: 'A', rows: [{ code: 5 }] }, 'rows[0].code', 'rows[0].code: must be a text'],
  [{ name: 'A', rows: [{ code: '' }] }, 'rows[0].code', 'rows[0].code: is empty'],
  [{ name: 'A', rows: [{ code: 'long' }] }, 'rows[0].code', 'rows[0].code: must have at most 3 characters'],
  [{ name: 'A', rows: [1, 2, 3].map(() => ({ code: 'a' })) }, 'rows', 'rows: must have at most 2 entries'],
  [{ name: 'A', rows: [], part: 0 }, 'part', 'part: must be at least 1'],
  [{ name: 'A', rows: [], part: 10 }, 'part', 'part: must be at most 9'],
  [{ name: 'A', rows: [], parts: '1' }, 'parts', 'parts: must be a number'],
  [{ name: 'A', rows: [], parts: 1.5 }, 'parts', 'parts: must be a whole number'],
  [{ name: 'A', rows: [], when: [] }, 'when', 'when: must be an object'],
  [{ name: 'A', rows: [], isOn: 'yes' }, 'isOn', 'isOn: must be true or false'],
  [{ name: 'A', rows: [], outcome: 'ZZ' }, 'outcome', 'outcome: must be one of AA, AE'],
  [{ name: 'A', rows: [], own: 5 }, 'own', 'own: must be a name'],
  [{ name: 'A', rows: [], other: 5 }, 'other', 'other: is unknown: leave it out'],
])('%j', (given, named, expected) => {
  expect(findings(() => parse(schema, given))).toEqual([`the content is not valid: ${named}`, [expected]]);
});

test.each([[[]], [null], ['text'], [5]])(
  '%j instead of an object is one finding, without those of its members',
  (given) => {
    const expected = ['the API key is not valid', [': must be an object']];
    expect(findings(() => parse(schema, given, 'invalid', 'the API key'))).toEqual(expected);
    expect(findings(() => parseMembers(schema, given, 'the API key'))).toEqual(expected);
  },
);

test('members that are valid are read beside those that are not', () => {
  expect(parseMembers(schema, { name: 'A', rows: 5, part: 2 }, 'it')).toMatchObject({
    data: { name: 'A', part: 2 },
    issues: [{ at: 'rows', message: 'must be a list' }],
  });
});
