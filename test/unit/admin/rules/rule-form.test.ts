/** A rule as the texts of its form, and back; faults of the draft at their fields. */
import { describe, expect, test } from 'vitest';

import {
  fieldsOf,
  issuesByField,
  readTexts,
  ruleOf,
  RULE_VERBS,
  textsOf,
} from '../../../../edge/admin/rules/rule-form.ts';
import { parse } from '../../../../edge/admin/api/parse.ts';
import { draftBody } from '../../../../edge/admin/rules/rules.ts';
import { senderRules, type SenderRule } from '../../../../edge/members/sender-rules.ts';
import type { Verb } from '../../../../edge/members/sender-rules/targets.ts';
import { Fault } from '../../../../shared/fault.ts';
import { RULE_RECIPES } from '../../../inputs/rule-recipes.ts';

const SAMPLES = {
  set: { path: 'PV1-18', value: ' A =  b ' },
  default: { path: 'OBX-2', value: 'ST' },
  copy: { from: 'OBR-20', path: 'OBR[OBR-3=]-3' },
  clear: { path: 'PID-19' },
  drop: { path: 'NTE[NTE-2=I]' },
  map: { path: 'PID-8', values: { 'a b': 'x=y', W: 'F', U: '' }, otherwise: 'keep' },
  split: { path: 'PID-5', by: ' ', into: 'components' },
  join: { path: 'PID-5.1', by: ', ' },
  trim: { path: 'PID-5' },
  date: { path: 'PID-7', format: 'DD.MM.YYYY' },
  authority: { path: 'PID-3', namespace: 'HOSP', universalId: '1.2.3', universalIdType: 'ISO', replaces: 'OLD' },
  ignore: {},
  reject: { text: 'Send a number.' },
} as const satisfies Record<Verb, object>;

const SCOPE = {
  name: 'Why',
  sender: { application: 'LAB', facility: 'EAST' },
  when: {
    types: ['ADT^A08', 'ORU'],
    all: [
      { path: 'PV1-2', equals: ' E' },
      { path: 'PID-5.1', like: 'ZZ*' },
      { path: 'OBX', is: 'present' },
      { path: 'PID-19', is: 'absent' },
    ],
  },
};

const stored = (rule: object): SenderRule => senderRules.parse([rule])[0] as SenderRule;

describe('a rule is the same after its form', () => {
  const rules = [
    ...Object.entries(SAMPLES).flatMap(([verb, members]) => [
      stored({ verb, ...members }),
      stored({ ...SCOPE, verb, ...members }),
    ]),
    ...RULE_RECIPES.flatMap((recipe) => recipe.rules.map(stored)),
  ];
  test.each(rules.map((rule, at) => [`${at} ${rule.verb}`, rule] as const))('%s', (_, rule) => {
    const texts = textsOf(rule);
    expect(texts).toBeDefined();
    const form = new URLSearchParams();
    for (const [name, text] of Object.entries(texts?.texts ?? {})) form.append(name, text);
    for (const { path, test: is, value } of [...(texts?.conditions ?? []), { path: '', test: 'equals', value: '' }]) {
      form.append('condition-path', path);
      form.append('condition-test', is);
      form.append('condition-value', value);
    }
    const saved = stored(ruleOf(readTexts(rule.verb, form)));
    expect(JSON.stringify(saved), 'also in the sequence of its members').toBe(JSON.stringify(rule));
  });
});

test('each verb has the members of its rule as fields', () => {
  for (const verb of Object.keys(RULE_VERBS) as Verb[])
    expect(
      fieldsOf(verb)
        .map(({ name }) => name)
        .toSorted(),
      verb,
    ).toEqual(Object.keys(SAMPLES[verb]).toSorted());
});

test('a rule whose sent values have an equals sign or white space around them has no form', () => {
  for (const sent of ['a=b', ' a', '=']) {
    const rule = stored({ verb: 'map', path: 'PID-8', values: { [sent]: 'F' } });
    expect(textsOf(rule), sent).toBeUndefined();
  }
});

test('a fault is at its field with the words of the API; one of another rule has no field', () => {
  const conditions = [
    { path: 'PID-5.1', test: 'like', value: 'x'.repeat(101) },
    { path: 'pid', test: 'present', value: '' },
  ];
  const texts = {
    path: 'MSH-9',
    values: 'U = F\nlost',
    types: 'adt',
    name: 'x'.repeat(201),
    facility: 'y'.repeat(228),
  };
  const rules = [{ verb: 'trim', path: 'PID' }, ruleOf({ verb: 'map', texts, conditions })];
  const faultOf = (given: readonly unknown[]): Fault => {
    try {
      parse(draftBody, { edits: 0, rules: given });
    } catch (error) {
      if (error instanceof Fault) return error;
    }
    throw new Error('no fault');
  };
  const found = issuesByField(faultOf(rules).issues, 1);
  expect([...found.keys()].toSorted()).toEqual([
    '',
    'condition-0',
    'condition-1',
    'facility',
    'name',
    'types',
    'values',
  ]);
  expect(found.get('types')).toEqual(['must be a message type, such as ADT or ADT^A08']);
  expect(found.get('values')).toEqual(['must be a text of at most 200 characters without control characters']);
  const guarded = ruleOf({ verb: 'map', texts: { path: 'MSH-9', values: 'U=F' }, conditions: [] });
  expect(issuesByField(faultOf([guarded]).issues, 0).get('path')).toEqual([
    'MSH-9 is of the header, by which the message is read, answered and recognized. No rule may change it.',
  ]);
});
