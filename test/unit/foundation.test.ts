/** The foundations: lossless JSON, UUIDv7, configuration, log lines. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readConfig } from '../../edge/config.ts';
import { ConfigError } from '../../shared/environment.ts';
import { Fault } from '../../shared/fault.ts';
import { JsonNumber, parseJson, printJson } from '../../shared/json.ts';
import { logLine } from '../../shared/log.ts';
import { isUuid, uuidv7 } from '../../shared/uuid.ts';
import { makeSecrets } from '../stack/services/secrets.ts';

describe('JSON without loss', () => {
  test.each(['1.50', '1e2', '123456789012345678', '-0.0', '0.10', '1E+2', '-0'])(
    '%s comes back as it was',
    (source) => {
      expect(printJson(parseJson(`{"v":[${source}]}`))).toBe(`{"v":[${source}]}`);
    },
  );

  test('a canonical number is a plain number', () => {
    expect(parseJson('[1,1.5,-3,0]')).toEqual([1, 1.5, -3, 0]);
    expect(parseJson('1.0')).toEqual(new JsonNumber('1.0'));
  });

  test('agrees with JSON.parse on every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(printJson(parseJson(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('refuses exactly what JSON.parse refuses, with a position', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      'a',
      '\\',
      ',',
      ':',
      '1',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\n',
    );
    const accepts = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        if (accepts(text)) return void parseJson(text);
        expect(() => parseJson(text)).toThrow(/at line \d+, column \d+/);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['a member twice', '{"a":1,"a":2}', 'given twice at line 1, column 11'],
    ['nesting', '['.repeat(65) + ']'.repeat(65), 'beyond 64 levels'],
    ['a byte order mark', '\ufeff{}', 'unexpected character at line 1, column 1'],
    ['text after the end', '{} {}', 'after the end of the document at line 1, column 4'],
    ['the second line', '{\n "a": tru }', 'line 2, column 7'],
  ])('refuses %s', (_, text, message) => {
    expect(() => parseJson(text)).toThrow(Fault);
    expect(() => parseJson(text)).toThrow(message);
  });

  test('__proto__ is a member like any other', () => {
    const value = parseJson('{"__proto__":{"a":1}}');
    expect(Object.keys(value ?? {})).toEqual(['__proto__']);
    expect(printJson(value)).toBe('{"__proto__":{"a":1}}');
  });
});

describe('UUIDv7', () => {
  test('ids of one process ascend, within a millisecond and when the clock goes back', () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => uuidv7(1_790_000_000_000 - (i % 3)));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every(isUuid)).toBe(true);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe('configuration', () => {
  test('every problem is listed at once, without its value', () => {
    const read = () =>
      readConfig({
        DATABASE_URL: 'mysql://secret',
        INTEGRATION_FHIR_PUBLIC_BASE_URL: 'not a url',
        GATEWAY_SECRET: 'short',
      });
    expect(read).toThrow(ConfigError);
    try {
      read();
    } catch (error) {
      const { problems } = error as ConfigError;
      expect(problems.join('\n')).toMatch(/DATABASE_URL must be/);
      expect(problems.join('\n')).toMatch(/INTEGRATION_FHIR_PUBLIC_BASE_URL is not a URL/);
      expect(problems.join('\n')).toMatch(/TOKEN_SIGNING_KEYS is missing/);
      expect(problems.join('\n')).toMatch(/GATEWAY_SECRET must be/);
      expect(problems.join('\n')).not.toMatch(/secret|short/);
    }
  });

  test('an endpoint that is missing or empty is not configured; a trailing slash goes', async () => {
    const config = readConfig({
      ...(await makeSecrets()).env,
      DATABASE_URL: 'postgres://u:p@host/db',
      INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://auth.example/x/',
      INTEGRATION_FHIR_PUBLIC_BASE_URL: ' ',
    });
    expect(config.INTEGRATION_OAUTH_PUBLIC_BASE_URL).toBe('https://auth.example/x');
    expect(config.INTEGRATION_FHIR_PUBLIC_BASE_URL).toBeUndefined();
  });
});

test('a log line keeps an error without its message, which may repeat patient data', () => {
  const error = new TypeError('Doe^John', { cause: new Error('1980-01-01') });
  const line = logLine(new Date(0), { level: 'error', event: 'bug', requestId: 'r1', error });
  expect(line).toContain('"class":"TypeError"');
  expect(line).toContain('"requestId":"r1"');
  expect(line).not.toMatch(/Doe|1980/);
});
