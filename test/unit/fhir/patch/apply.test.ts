/** JSON Patch against RFC 6902's own examples (appendix A), and random patches against a plainer way to do the same. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { applyPatch } from '../../../../edge/fhir/patch/apply.ts';
import { readOperations } from '../../../../edge/fhir/patch/operations.ts';
import { type Json, parseJson, printJson, sortedJson } from '../../../../shared/json.ts';

const patched = (document: string, patch: string): string =>
  printJson(applyPatch(parseJson(document), readOperations(parseJson(patch))));

describe('RFC 6902 appendix A', () => {
  test.each([
    ['A.1', '{"foo":"bar"}', '[{"op":"add","path":"/baz","value":"qux"}]', '{"foo":"bar","baz":"qux"}'],
    ['A.2', '{"foo":["bar","baz"]}', '[{"op":"add","path":"/foo/1","value":"qux"}]', '{"foo":["bar","qux","baz"]}'],
    ['A.3', '{"baz":"qux","foo":"bar"}', '[{"op":"remove","path":"/baz"}]', '{"foo":"bar"}'],
    ['A.4', '{"foo":["bar","qux","baz"]}', '[{"op":"remove","path":"/foo/1"}]', '{"foo":["bar","baz"]}'],
    ['A.5', '{"baz":"qux","foo":"bar"}', '[{"op":"replace","path":"/baz","value":"boo"}]', '{"baz":"boo","foo":"bar"}'],
    [
      'A.6',
      '{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}',
      '[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]',
      '{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}',
    ],
    [
      'A.7',
      '{"foo":["all","grass","cows","eat"]}',
      '[{"op":"move","from":"/foo/1","path":"/foo/3"}]',
      '{"foo":["all","cows","eat","grass"]}',
    ],
    [
      'A.8',
      '{"baz":"qux","foo":["a",2,"c"]}',
      '[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]',
      '{"baz":"qux","foo":["a",2,"c"]}',
    ],
    [
      'A.10',
      '{"foo":"bar"}',
      '[{"op":"add","path":"/child","value":{"grandchild":{}}}]',
      '{"foo":"bar","child":{"grandchild":{}}}',
    ],
    ['A.11', '{"foo":"bar"}', '[{"op":"add","path":"/baz","value":"qux","xyz":123}]', '{"foo":"bar","baz":"qux"}'],
    ['A.14', '{"/":9,"~1":10}', '[{"op":"test","path":"/~01","value":10}]', '{"/":9,"~1":10}'],
    [
      'A.16',
      '{"foo":["bar"]}',
      '[{"op":"add","path":"/foo/-","value":["abc","def"]}]',
      '{"foo":["bar",["abc","def"]]}',
    ],
  ])('%s', (_, document, patch, result) => expect(patched(document, patch)).toBe(result));

  test.each([
    ['A.9', '{"baz":"qux"}', '[{"op":"test","path":"/baz","value":"bar"}]', 'invalid'],
    ['A.12', '{"foo":"bar"}', '[{"op":"add","path":"/baz/bat","value":"qux"}]', 'invalid'],
    ['A.13', '{"foo":"bar"}', '[{"op":"add","path":"/baz","value":"qux","op":"remove"}]', 'malformed'],
    ['A.15', '{"/":9,"~1":10}', '[{"op":"test","path":"/~01","value":"10"}]', 'invalid'],
  ])('%s is rejected', (_, document, patch, kind) => {
    expect(() => patched(document, patch)).toThrow(expect.objectContaining({ kind }));
  });
});

describe('places', () => {
  const DOCUMENT = '{"a":[1,2],"b":{"":0,"__proto__x":1,"x/y":2,"x~y":3}}';
  test.each([
    ['', DOCUMENT],
    ['/b/', '0'],
    ['/b/x~1y', '2'],
    ['/b/x~0y', '3'],
    ['/a/1', '2'],
  ])('"%s" is one', (path, value) => {
    expect(patched(DOCUMENT, `[{"op":"test","path":"${path}","value":${value}}]`)).toBe(DOCUMENT);
  });

  test.each([
    '/a/2',
    '/a/-',
    '/a/01',
    '/a/-1',
    '/a/1e0',
    '/a/length',
    '/b/toString',
    '/b/__proto__',
    '/b/x/y',
    '/a/0/x',
    '/c',
  ])('%s is not a pointer', (path) => {
    for (const op of ['test', 'replace', 'remove']) {
      const patch = JSON.stringify([{ op, path, value: 0 }]);
      expect(() => patched(DOCUMENT, patch), op).toThrow(expect.objectContaining({ kind: 'invalid' }));
    }
  });

  test('nothing is added behind the end of an array', () => {
    for (const path of ['/a/3', '/a/99', '/b/0/x']) {
      const patch = JSON.stringify([{ op: 'add', path, value: 0 }]);
      expect(() => patched(DOCUMENT, patch), path).toThrow(expect.objectContaining({ kind: 'invalid' }));
    }
    expect(patched('{"a":[1,2]}', '[{"op":"add","path":"/a/2","value":3}]')).toBe('{"a":[1,2,3]}');
  });

  test.each(['a', '/~', '/~2', 'http://x/', '/a'.repeat(65)])('"%s" is rejected as no pointer', (path) => {
    const patch = JSON.stringify([{ op: 'remove', path }]);
    expect(() => patched(DOCUMENT, patch)).toThrow(expect.objectContaining({ kind: 'malformed' }));
  });

  test('a member can have the name of a property of every object', () => {
    const patch = '[{"op":"add","path":"/__proto__","value":{"x":1}},{"op":"test","path":"/__proto__/x","value":1}]';
    expect(patched('{"a":1}', patch)).toBe('{"a":1,"__proto__":{"x":1}}');
    expect(patched('{"__proto__":1,"a":2}', '[{"op":"remove","path":"/__proto__"}]')).toBe('{"a":2}');
  });
});

test('digits are kept, and numbers are compared by value', () => {
  const document = '{"a":1.50,"b":[1e2,0.1000,12345678901234567890],"c":-0.0}';
  const patch = `[{"op":"test","path":"/a","value":15e-1},{"op":"test","path":"/b","value":[100.0,0.1,12345678901234567890.00]},
    {"op":"test","path":"/c","value":0},{"op":"copy","from":"/a","path":"/d"},{"op":"add","path":"/e","value":2.50}]`;
  expect(patched(document, patch)).toBe('{"a":1.50,"b":[1e2,0.1000,12345678901234567890],"c":-0.0,"d":1.50,"e":2.50}');
  for (const value of ['1.51', '"1.50"', '-1.5', '15', '1e400', 'null']) {
    expect(() => patched(document, `[{"op":"test","path":"/a","value":${value}}]`)).toThrow('the operation at index 0');
  }
  const near = '[{"op":"test","path":"/b/2","value":12345678901234567891}]';
  expect(() => patched(document, near)).toThrow('fails');
});

test('a copied value does not change with its source, and the patched document stays unchanged', () => {
  const document = parseJson('{"a":{"x":[1]}}');
  const operations = readOperations(
    parseJson(
      '[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/a/x/-","value":{"k":[]}},{"op":"add","path":"/a/x/1/k/0","value":2}]',
    ),
  );
  for (let again = 0; again < 2; again += 1) {
    expect(printJson(applyPatch(document, operations))).toBe('{"a":{"x":[1,{"k":[2]}]},"b":{"x":[1]}}');
  }
  expect(printJson(document)).toBe('{"a":{"x":[1]}}');
});

test('nothing grows or nests without bound', () => {
  const many = (op: object): string => JSON.stringify(Array.from({ length: 1000 }, () => op));
  const deep = `${'{"a":'.repeat(60)}{}${'}'.repeat(60)}`;
  const costly = expect.objectContaining({ kind: 'invalid', code: 'too-costly' });
  expect(() => patched('{"a":[1]}', many({ op: 'copy', from: '/a', path: '/a/-' }))).toThrow(costly);
  expect(() => patched(deep, many({ op: 'copy', from: '/a', path: '/a'.repeat(60) }))).toThrow(costly);
  const wide = `{"a":[${'0,'.repeat(100_000)}0],"b":{${Array.from({ length: 1_000 }, (_, n) => `"${n}":0`).join(',')}}}`;
  for (const path of ['/a/0', '/b/x']) expect(() => patched(wide, many({ op: 'add', path, value: 1 }))).toThrow(costly);
  const usual = JSON.stringify({ a: Array.from({ length: 5_000 }, (_, n) => ({ value: n, code: 'x' })) });
  expect(() => patched(usual, many({ op: 'replace', path: '/a/4999/value', value: 1 }))).not.toThrow();
  const large = JSON.stringify({ a: 'x'.repeat(1_500_000) });
  expect(() => patched(large, '[{"op":"copy","from":"/a","path":"/b"}]')).not.toThrow();
  expect(() => patched(large, many({ op: 'move', from: '/a', path: '/a' }))).toThrow(costly);
});

/** The same by changing a plain document in place; null where it cannot be done. */
function plainly(document: unknown, operations: readonly Record<string, unknown>[]): unknown {
  const root = { document: structuredClone(document) };
  const split = (path: string) => ['document', ...path.split('/').slice(1)];
  const has = (at: unknown, key: string) =>
    typeof at === 'object' &&
    at !== null &&
    Object.hasOwn(at, key) &&
    !(Array.isArray(at) && !/^(0|[1-9]\d*)$/.test(key));
  const get = (path: string[]): { value: unknown } | undefined => {
    let at: unknown = root;
    for (const key of path) {
      if (!has(at, key)) return undefined;
      at = (at as Record<string, unknown>)[key];
    }
    return { value: at };
  };
  const put = (path: string[], value: unknown, isNew: boolean): boolean => {
    const key = path.at(-1) ?? '';
    const parent = path.length === 1 ? root : get(path.slice(0, -1))?.value;
    if (typeof parent !== 'object' || parent === null) return false;
    if (!isNew && !has(parent, key)) return false;
    if (!Array.isArray(parent)) Object.assign(parent, { [key]: structuredClone(value) });
    else if (!isNew) parent[Number(key)] = value;
    else if (key === '-') parent.push(structuredClone(value));
    else if (/^(0|[1-9]\d*)$/.test(key) && Number(key) <= parent.length)
      parent.splice(Number(key), 0, structuredClone(value));
    else return false;
    return true;
  };
  const drop = (path: string[]): boolean => {
    const parent = get(path.slice(0, -1))?.value;
    const key = path.at(-1) ?? '';
    if (path.length === 1 || !has(parent, key)) return false;
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete (parent as Record<string, unknown>)[key];
    return true;
  };
  const sorted = (value: unknown) => sortedJson(parseJson(JSON.stringify(value)));
  for (const { op, path, from, value } of operations) {
    const at = split(String(path));
    const source = typeof from === 'string' ? get(split(from)) : undefined;
    const isDone = ((): boolean => {
      if (op === 'add') return put(at, value, true);
      if (op === 'replace') return put(at, value, false);
      if (op === 'remove') return drop(at);
      const found = get(at);
      if (op === 'test') return found !== undefined && sorted(found.value) === sorted(value);
      if (source === undefined) return false;
      const carried = structuredClone(source.value);
      if (op === 'copy' || at.length === 1) return put(at, carried, true);
      return drop(split(String(from))) && put(at, carried, true);
    })();
    if (!isDone) return null;
  }
  return { patched: root.document };
}

test('random patches change a resource like a plain document', () => {
  const leaf = fc.oneof(fc.constantFrom('x', 'y', 0, 1, true, null));
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', '0'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  const path = fc
    .array(fc.constantFrom('a', 'b', '0', '0', '1', '2', '-'), { maxLength: 3 })
    .map((tokens) => tokens.map((token) => `/${token}`).join(''));
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'add', 'replace', 'test'), path, value }),
    fc.record({ op: fc.constantFrom('remove'), path }),
    fc.record({ op: fc.constantFrom('move', 'copy'), path, from: path }),
  );
  const document = fc.dictionary(fc.constantFrom('a', 'b'), value, { noNullPrototype: true });
  let succeeded = 0;
  fc.assert(
    fc.property(document, fc.array(operation, { maxLength: 5 }), (before, all) => {
      const operations = all.filter(
        (one) => !('from' in one && one.op === 'move' && one.path.startsWith(`${one.from}/`)),
      );
      const json = (of: unknown): Json => parseJson(JSON.stringify(of));
      const wanted = plainly(before, operations);
      let got: unknown = null;
      try {
        got = { patched: applyPatch(json(before), readOperations(json(operations))) };
        succeeded += 1;
      } catch (error) {
        expect(error).toMatchObject({ kind: 'invalid' });
      }
      expect(got === null ? null : sortedJson(got as Json)).toEqual(wanted === null ? null : sortedJson(json(wanted)));
    }),
    { numRuns: 2_000 },
  );
  expect(succeeded).toBeGreaterThan(300);
});
