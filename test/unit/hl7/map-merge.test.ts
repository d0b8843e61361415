/** What a message says put into what is stored: element by element, and for a patient's lists item by item. */
import { describe, expect, test } from 'vitest';

import { fixed, type Contribution } from '../../../edge/hl7/mapping/field-map.ts';
import { applyContributions as merge, givenBy, type Given } from '../../../edge/hl7/mapping/apply.ts';

const by = (
  field: string,
  element: string,
  value: Contribution['value'],
  more: Partial<Contribution> = {},
): Contribution => ({
  ...fixed(element, value, field),
  ...more,
});

describe('elements', () => {
  test('sent replaces, "" deletes, not sent stays', () => {
    const stored = { gender: 'male', birthDate: '1980-01-01', active: true };
    expect(merge(stored, [fixed('gender', 'female'), fixed('birthDate', null)])).toEqual({
      gender: 'female',
      active: true,
    });
    expect(stored).toHaveProperty('birthDate');
  });

  test('one choice takes the place of another', () => {
    expect(merge({ valueString: 'x', _valueString: { id: 'a' } }, [fixed('value[x]', { valueInteger: 1 })])).toEqual({
      valueInteger: 1,
    });
    expect(merge({ valueString: 'x', status: 'final' }, [fixed('value[x]', null)])).toEqual({ status: 'final' });
  });

  test('an extension replaces those of its url only', () => {
    const stored = {
      extension: [
        { url: 'a', valueString: '1' },
        { url: 'b', valueString: '2' },
      ],
    };
    expect(merge(stored, [fixed('extension a', { valueString: '3' })])).toEqual({
      extension: [
        { url: 'b', valueString: '2' },
        { url: 'a', valueString: '3' },
      ],
    });
    expect(merge(stored, [fixed('extension a', null), fixed('extension b', null)])).toEqual({});
  });

  test('a list is replaced; what adds is added once', () => {
    expect(merge({ note: ['a'] }, [fixed('note', ['b'])])).toEqual({ note: ['b'] });
    expect(merge({ result: ['a'] }, [{ ...fixed('result', ['a', 'b']), adds: true }])).toEqual({ result: ['a', 'b'] });
  });
});

describe('lists of a patient', () => {
  const home = { system: 'phone', use: 'home', value: '1' };
  const work = { system: 'phone', use: 'work', value: '2' };
  const given: Given = { 'PID-13': [JSON.stringify(home)], 'PID-14': [JSON.stringify(work)] };
  const sent = (value: string) => ({ system: 'phone', use: 'home', value });

  test('a field replaces what it gave, and leaves what others gave', () => {
    const merged = merge({ telecom: [home, work] }, [by('PID-13', 'telecom', [sent('3'), sent('4')])], given);
    expect(merged['telecom']).toEqual([sent('3'), sent('4'), work]);
  });

  test('"" takes away what the field gave', () => {
    expect(merge({ telecom: [home, work] }, [by('PID-13', 'telecom', null)], given)).toEqual({ telecom: [work] });
  });

  test('"" of a field that never gave anything takes away what it owns', () => {
    const owns = (item: object) => 'use' in item && item.use === 'home';
    expect(merge({ telecom: [home, work] }, [by('PID-13', 'telecom', null, { owns })], {})).toEqual({
      telecom: [work],
    });
  });

  test('what a FHIR client wrote gives way to the same thing, else it stays', () => {
    const email = { system: 'email', value: 'a@b' };
    expect(merge({ telecom: [email, home] }, [by('PID-13', 'telecom', [sent('3')])], {})).toEqual({
      telecom: [email, sent('3')],
    });
    expect(merge({ name: [{ text: 'Old' }] }, [by('PID-5', 'name', [{ use: 'official', family: 'New' }])], {})).toEqual(
      {
        name: [{ use: 'official', family: 'New' }],
      },
    );
  });

  test('identifiers are made richer and never taken out', () => {
    const stored = { identifier: [{ value: '1' }, { system: 's', value: '2' }] };
    const keeps = { keeps: true };
    expect(
      merge(stored, [by('PID-3', 'identifier', [{ system: 't', value: '1' }], keeps)], {
        'PID-3': [JSON.stringify({ system: 's', value: '2' })],
      }),
    ).toEqual({
      identifier: [
        { system: 't', value: '1' },
        { system: 's', value: '2' },
      ],
    });
  });

  test('fields of one message do not take each other’s items away', () => {
    const named = [
      by('PID-5', 'name', [{ use: 'nickname', text: 'A' }]),
      by('PID-9', 'name', [{ use: 'nickname', text: 'B' }]),
    ];
    expect(merge({}, named, {})).toEqual({
      name: [
        { use: 'nickname', text: 'A' },
        { use: 'nickname', text: 'B' },
      ],
    });
    const same = [
      by('PID-3', 'identifier', [{ system: 's', value: '1' }]),
      by('PID-2', 'identifier', [{ value: '1' }]),
    ];
    expect(merge({}, same, {})).toEqual({ identifier: [{ system: 's', value: '1' }] });
  });

  test('what was given is remembered', () => {
    expect(givenBy([by('PID-13', 'telecom', [work]), by('PID-14', 'telecom', null)], given)).toEqual({
      'PID-13': [JSON.stringify(work)],
    });
  });
});
