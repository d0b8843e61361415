import { describe, expect, test } from 'vitest';

import { acceptedType, requireJsonBody } from '../../../edge/fhir/media-type.ts';

describe('media types', () => {
  const FHIR = 'application/fhir+json; charset=utf-8';
  test.each<[string | null, string | null, string]>([
    [null, null, FHIR],
    ['', null, FHIR],
    ['*/*', null, FHIR],
    ['application/json, application/fhir+json;q=0.5', null, FHIR],
    ['application/json', null, 'application/json; charset=utf-8'],
    ['text/json', null, 'text/json; charset=utf-8'],
    ['application/fhir+xml;q=1, application/*;q=0.1', null, FHIR],
    ['text/html', 'json', FHIR],
    ['text/html', 'application/fhir json', FHIR],
    ['application/fhir+json; fhirVersion="4.0"', null, FHIR],
  ])('%s, _format %s', (accept, format, type) => expect(acceptedType(accept, format)).toBe(type));

  test.each<[string | null, string | null]>([
    ['application/fhir+xml', null],
    ['application/fhir+json;q=0', null],
    ['application/fhir+json; fhirVersion=5.0', null],
    ['*/*', 'xml'],
    ['*/*', ''],
  ])('not %s, _format %s', (accept, format) => {
    expect(() => acceptedType(accept, format)).toThrow(/only application\/fhir\+json/);
  });

  test('requires JSON in UTF-8 for a body', () => {
    for (const type of ['application/fhir+json', 'Application/JSON; charset="UTF-8"', 'text/json; fhirVersion=4.0']) {
      expect(() => requireJsonBody(type)).not.toThrow();
    }
    for (const type of [
      null,
      '',
      'text/plain',
      'application/fhir+json; charset=iso-8859-1',
      'application/json; fhirVersion=3.0',
    ]) {
      expect(() => requireJsonBody(type)).toThrow(/must be sent as/);
    }
  });
});
