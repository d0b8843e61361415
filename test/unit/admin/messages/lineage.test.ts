/** The version that each value of a resource is of, over lists that change. */
import { expect, test } from 'vitest';

import { traceValues } from '../../../../edge/admin/messages/lineage.ts';
import { parseJson, printJson, type Json } from '../../../../shared/json.ts';

const facts = (version: number) =>
  JSON.stringify({
    clientId: 'svc-1',
    elements: 'name PID-5 PID-9,telecom PID-13',
    message: {
      id: `00000000-0000-7000-8000-00000000000${version}`,
      type: 'ADT^A08',
      controlId: `M-${version}`,
      application: 'HIS',
      facility: 'EAST',
      receivedAt: '2026-11-27T10:00:00.000Z',
      forgottenAt: null,
    },
    person: null,
  });

/** Versions of one member as JSON, the oldest first; null: without it. Each value as `path value version < replaced`. */
function traced(versions: readonly (string | null)[], { oldest = 1, fields = '{}', element = 'name' } = {}): string[] {
  const rows = versions.flatMap((text, at) => {
    const previous = versions[at - 1] ?? null;
    if (text === null || text === previous) return [];
    const change: Json = [element, parseJson(text), previous === null];
    const version = oldest + at;
    return [{ version, at: '', key_name: null, facts: facts(version), changes: printJson([change]), oldest }];
  });
  return traceValues([element], rows.toReversed(), { fields, messages: '[]', versions: '{}' }).map(
    ({ path, value, version, replaced, isLong }) =>
      [path, isLong ? 'long' : value, version?.version ?? '?', ...(replaced === null ? [] : ['<', replaced])].join(' '),
  );
}

test.each<readonly [string, readonly (string | null)[], readonly string[]]>([
  ['a value that was sent again is of the last message', ['"a"', '"b"', '"a"'], ['name "a" 3 < "b"']],
  ['a value that was deleted and sent again is of the last message', ['"a"', null, '"a"'], ['name "a" 3']],
  ['a number is compared with its digits', ['1.5', '1.50'], ['name 1.50 2 < 1.5']],
  ['members in another order are not a change', ['{"a":1,"b":2}', '{"b":2,"a":1}'], ['name.b 2 1', 'name.a 1 1']],
  [
    'an item keeps its origin where another is added before it',
    ['["a"]', '["b","a"]'],
    ['name[0] "b" 2', 'name[1] "a" 1'],
  ],
  ['an item keeps its origin where the item before it is deleted', ['["a","b"]', '["b"]'], ['name[0] "b" 1']],
  ['an equal item that is added has its own origin', ['["a"]', '["a","a"]'], ['name[0] "a" 1', 'name[1] "a" 2']],
  [
    'a changed item is compared with the most similar item',
    [
      '[{"use":"old","value":"1"},{"use":"usual","value":"2"}]',
      '[{"use":"usual","value":"3"},{"use":"old","value":"1"}]',
    ],
    ['name[0].use "usual" 1', 'name[0].value "3" 2 < "2"', 'name[1].use "old" 1', 'name[1].value "1" 1'],
  ],
  [
    'an item that joins two earlier ones has the values of both',
    ['[{"value":"1","by":"N"},{"value":"1","system":"u"}]', '[{"value":"1","by":"N","system":"u"}]'],
    ['name[0].value "1" 1', 'name[0].by "N" 1', 'name[0].system "u" 1'],
  ],
  ['a list that becomes an object', ['["a"]', '{"x":"a"}'], ['name.x "a" 2']],
  ['a large document has no text', ['["hash",5000]'], ['name long 1']],
  ['a long value has no text', [`"${'x'.repeat(3000)}"`], ['name long 1']],
])('%s', (_, versions, expected) => {
  expect(traced(versions)).toEqual(expected);
});

test('a value that is as old as the oldest compared version has no version', () => {
  expect(traced(['{"a":1,"b":1}', '{"a":1,"b":2}'], { oldest: 7 })).toEqual(['name.a 1 ?', 'name.b 2 8 < 1']);
});

test('only the fields that now state the item are named', () => {
  const items = '[{"family":"A"},{"family":"B"}]';
  const change: Json = ['name', parseJson(items), true];
  const row = { version: 1, at: '', key_name: null, facts: facts(1), changes: printJson([change]), oldest: 1 };
  const fieldsWith = (fields: string) =>
    traceValues(['name'], [row], { fields, messages: '[]', versions: '{}' }).map((each) => each.fields.join(' '));
  const [a, b] = ['[{"family":"A"}]', '[{"family":"B"}]'];
  expect(fieldsWith(`{"1|x|m":{"name PID-5":${a},"name PID-9":${b}}}`)).toEqual(['PID-5', 'PID-9']);
  // Both fields state the item now.
  expect(fieldsWith(`{"1|x|m":{"name PID-5":${a}},"1|y|n":{"name PID-9":${a}}}`)).toEqual([
    'PID-5 PID-9',
    'PID-5 PID-9',
  ]);
});

test('many changed items take little time', () => {
  const items = (from: number) =>
    printJson(Array.from({ length: 3000 }, (_, at) => ({ value: String(from + at), system: 'u' })));
  const begin = process.cpuUsage().user;
  expect(traced([items(0), items(100_000)])).toHaveLength(6000);
  expect((process.cpuUsage().user - begin) / 1000).toBeLessThan(3000);
});
