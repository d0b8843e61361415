/** The reason of a rejected FHIR request in the list of refusals: codes and places with R4's names, never values of the request. */
import { describe, expect, test } from 'vitest';

import { refusalReason } from '../../../edge/fhir/refused-request.ts';
import { Fault, type FaultKind, type Issue } from '../../../shared/fault.ts';

const reasonOf = (kind: FaultKind, issues: readonly Issue[] = []) =>
  refusalReason(new Fault(kind, 'Nora Nosy, 4711, was born on 1980-01-01', { issues }));
const issue = (code: string, at?: string): Issue => ({
  code,
  message: 'Nora Nosy, 4711, was born on 1980-01-01',
  ...(at === undefined ? {} : { at }),
});

test.each<[string, Issue[], string]>([
  ['an element', [issue('required', 'Observation.code')], 'Observation.code: a required element is missing'],
  [
    'positions are one reason',
    [issue('value', 'Patient.name[17].given[3]')],
    'Patient.name.given: the value cannot be used here',
  ],
  [
    'an element that a client made up',
    [issue('structure', 'Patient.Nosy4711')],
    'Patient.…: the structure is not valid R4',
  ],
  ['a type that a client made up', [issue('not-supported', 'Nosy')], '…: it is not supported here'],
  [
    'a choice',
    [issue('value', 'Observation.value.ofType(Quantity).code')],
    'Observation.value.code: the value cannot be used here',
  ],
  [
    'an entry',
    [issue('required', 'Bundle.entry[2].resource.status')],
    'Bundle.entry.resource.status: a required element is missing',
  ],
  ['a parameter', [issue('not-supported', 'http.family:exact')], 'the parameter family: it is not supported here'],
  [
    'a parameter that is a number of a patient',
    [issue('not-supported', 'http.4711')],
    'a parameter that R4 does not have here: it is not supported here',
  ],
  ['a chain', [issue('not-supported', 'http.subject:Patient.nosy')], 'the parameter subject: it is not supported here'],
  ['a header', [issue('value', 'http.If-Match')], 'the header If-Match: the value cannot be used here'],
  ['no place', [issue('too-costly')], 'the request exceeds a limit of cost'],
  [
    'the same twice',
    [issue('required', 'Patient.link[0].other'), issue('required', 'Patient.link[1].other')],
    'Patient.link.other: a required element is missing',
  ],
  [
    'many',
    ['code', 'status', 'subject', 'value', 'note'].map((name) => issue('required', `Observation.${name}`)),
    [
      ...['code', 'status', 'subject'].map((name) => `Observation.${name}: a required element is missing`),
      'and 2 more',
    ].join('; '),
  ],
])('%s', (_, issues, reason) => {
  expect(reasonOf('invalid', issues)).toEqual({ code: issues[0]?.code, reason });
});

test.each<[FaultKind, string, string]>([
  ['not-found', 'not-found', 'the site has no resource with this id'],
  ['precondition-failed', 'precondition-failed', 'a precondition in the headers failed'],
  ['unsupported-media-type', 'unsupported-media-type', 'the Content-Type is not supported'],
  ['conflict', 'conflict', 'another request changed the resource concurrently'],
])('%s has the message of the gateway', (kind, code, reason) => {
  expect(reasonOf(kind)).toEqual({ code, reason });
});

describe('a token', () => {
  test('has its complete reason', () => {
    const message = 'the access token lacks a scope: system/Observation.write is needed';
    expect(refusalReason(new Fault('forbidden', message, { code: 'insufficient_scope' }))).toEqual({
      code: 'insufficient_scope',
      reason: message,
    });
  });
  test('a bug has no details', () => {
    expect(refusalReason(undefined)).toEqual({ code: 'exception', reason: 'a failure of the gateway' });
  });
});
