/** A patch of a resource whose documents are cut out has the result of a patch of the whole resource. */
import { describe, expect, test } from 'vitest';

import { applyPatch } from '../../../../edge/fhir/patch/apply.ts';
import { cutData } from '../../../../edge/fhir/patch/cut-data.ts';
import { readOperations } from '../../../../edge/fhir/patch/operations.ts';
import { type Json, parseJson, printJson } from '../../../../shared/json.ts';

const [SCAN, OTHER] = ['QUJD'.repeat(1_024), `${'eHl6'.repeat(2_000)}eA==`];
const BODY = `"status":"current","content":[{"attachment":{"data":"${SCAN}","title":"a \\"data\\":\\"b"}},{"attachment":{"data":"${OTHER}"}},{"attachment":{"data":"QUJD"}},{"attachment":{"data":"${SCAN}"}}]`;

const patched = (members: string, operations: Json): string =>
  printJson(applyPatch(parseJson(`{${members}}`), readOperations(operations)));

function apart(operations: Json): { readonly text: string; readonly isPlaced: boolean } {
  const data = cutData(BODY);
  if (data === undefined) throw new Error('nothing was cut');
  const { body, cut, withData, isPlaced } = data;
  const text = patched(body, cut(operations));
  return { text: withData(text), isPlaced: isPlaced(text) };
}

test('cuts each large document once, and nothing else', () => {
  const { body = '', withData = (text: string) => text } = cutData(BODY) ?? {};
  expect(body.length).toBeLessThan(400);
  expect(body).toContain('"data":"QUJD"');
  expect(withData(body)).toBe(BODY);
});

describe('a patch', () => {
  test.each<[string, Json]>([
    ['of another member', [{ op: 'replace', path: '/status', value: 'superseded' }]],
    ['that removes a document', [{ op: 'remove', path: '/content/1' }]],
    ['that moves an attachment', [{ op: 'move', from: '/content/0', path: '/content/-' }]],
    [
      'that copies a document',
      [{ op: 'copy', from: '/content/0/attachment/data', path: '/content/2/attachment/data' }],
    ],
    ['that tests a document', [{ op: 'test', path: '/content/1/attachment/data', value: OTHER }]],
    ['that tests an attachment', [{ op: 'test', path: '/content/1', value: { attachment: { data: OTHER } } }]],
    ['that adds a document again', [{ op: 'add', path: '/content/-', value: { attachment: { data: SCAN } } }]],
    ['that adds another document', [{ op: 'add', path: '/content/-', value: { attachment: { data: `${SCAN}QUJD` } } }]],
  ])('%s has the same result', (_, operations) => {
    expect(apart(operations)).toEqual({ text: patched(BODY, operations), isPlaced: true });
  });

  test('that tests for another document fails', () => {
    const operations = [{ op: 'test', path: '/content/1/attachment/data', value: SCAN }];
    expect(() => apart(operations)).toThrow('the operation at index 0 (test) fails');
  });

  test.each<[string, Json]>([
    ['a copy to another member', [{ op: 'copy', from: '/content/0/attachment/data', path: '/description' }]],
    [
      'a move to an extension',
      [{ op: 'move', from: '/content/0/attachment/data', path: '/content/0/valueBase64Binary' }],
    ],
  ])('notices %s', (_, operations) => {
    expect(apart(operations)).toEqual({ text: patched(BODY, operations), isPlaced: false });
  });
});

test.each([
  ['without documents', '"status":"current"'],
  ['with small ones', `"content":[{"attachment":{"data":"${SCAN.slice(4)}"}}]`],
  ['with escapes in them', `"content":[{"attachment":{"data":"\\n${SCAN}"}}]`],
])('a resource %s stays as it is', (_, body) => {
  expect(cutData(body)).toBeUndefined();
});
