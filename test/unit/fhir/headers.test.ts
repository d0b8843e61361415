/** What requests say in headers: Prefer, If-Match and its kin, media types. */
import { describe, expect, test } from 'vitest';

import { ifMatchOf, isNotModified } from '../../../edge/fhir/conditional-headers.ts';
import { acceptedType, requireJsonBody } from '../../../edge/fhir/media-type.ts';
import { preferOf } from '../../../edge/fhir/prefer.ts';

describe('Prefer', () => {
  test.each<[string, string, string]>([
    ['', 'representation', 'strict'],
    ['return=minimal', 'minimal', 'strict'],
    ['RETURN=OperationOutcome, handling=lenient', 'OperationOutcome', 'lenient'],
    ['respond-async; return="minimal"', 'minimal', 'strict'],
    ['return=minimal, return=representation', 'minimal', 'strict'],
    ['return=everything; handling=loose', 'representation', 'strict'],
  ])('%s', (prefer, returns, handling) => {
    expect(preferOf(new Headers({ prefer }))).toEqual({ return: returns, handling });
  });
});

describe('If-Match', () => {
  test.each<[string, unknown]>([
    ['W/"3"', 3],
    ['"3"', 3],
    [' W/"12" ', 12],
    ['*', 'any'],
    ['W/"0"', -1],
    ['W/"x"', -1],
    ['W/"99999999999"', -1],
  ])('%s', (header, version) => expect(ifMatchOf(new Headers({ 'if-match': header }))).toBe(version));

  test.each(['3', 'W/3', 'w/"3"', 'W/"1", W/"2"', '"', 'x'])('not %s', (header) => {
    expect(() => ifMatchOf(new Headers({ 'if-match': header }))).toThrow(/If-Match must be/);
  });

  test('none', () => expect(ifMatchOf(new Headers())).toBeNull());
});

describe('If-None-Match and If-Modified-Since', () => {
  const at = '2026-01-01T12:00:00.999Z';
  test.each<[Record<string, string>, boolean]>([
    [{}, false],
    [{ 'if-none-match': 'W/"2"' }, true],
    [{ 'if-none-match': '"1", "2"' }, true],
    [{ 'if-none-match': '*' }, true],
    [{ 'if-none-match': 'W/"3"', 'if-modified-since': 'Thu, 01 Jan 2026 12:00:00 GMT' }, false],
    [{ 'if-modified-since': 'Thu, 01 Jan 2026 12:00:00 GMT' }, true],
    [{ 'if-modified-since': 'Thu, 01 Jan 2026 11:59:59 GMT' }, false],
    [{ 'if-modified-since': 'soon' }, false],
  ])('%o', (headers, expected) => expect(isNotModified(new Headers(headers), 2, at)).toBe(expected));
});

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

  test('of a body', () => {
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
