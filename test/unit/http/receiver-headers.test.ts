import { expect, test } from 'vitest';

import {
  openReceiverHeaders,
  RECEIVER_HEADERS,
  readReceiverHeaders,
  sealReceiverHeaders,
} from '../../../edge/http/receiver-headers.ts';

const LONG = 'x'.repeat(2001);

test('headers are read by lower-case name', () => {
  expect(readReceiverHeaders(['Authorization: Basic YTpi=', 'X-API-Key:k'])).toEqual({
    authorization: 'Basic YTpi=',
    'x-api-key': 'k',
  });
  expect(readReceiverHeaders([])).toEqual({});
  expect(readReceiverHeaders(RECEIVER_HEADERS.slice(0, 4).map((name) => `${name}: v`))).toBeTypeOf('object');
});

test.each([
  ['Host: inside.example', /must be one of/],
  ['Content-Length: 0', /must be one of/],
  ['webhook-signature: v1,x', /must be one of/],
  ['Transfer-Encoding: chunked', /must be one of/],
  ['Authorization', /Name: value/],
  ['Authorization: ', /Name: value/],
  ['Authorization: a\r\nHost: b', /Name: value/],
  ['Authorization: a\u0000', /Name: value/],
  ['Authorization: ä', /Name: value/],
  [`Authorization: ${LONG}`, /Name: value/],
  [' Authorization: x', /Name: value/],
])('%j is refused, without its value', (line, problem) => {
  const answer = readReceiverHeaders([line]);
  expect(answer).toMatch(problem);
  expect(answer).not.toContain(LONG);
});

test('a header is sent once, and there are few', () => {
  expect(readReceiverHeaders(['Authorization: a', 'authorization: b'])).toBe('must have authorization once');
  expect(readReceiverHeaders(RECEIVER_HEADERS.slice(0, 5).map((name) => `${name}: v`))).toMatch(/at most 4/);
});

test('sealed headers are opened for their purpose alone, also with the secret before', async () => {
  const sealed = await sealReceiverHeaders(['old'], 'one', { authorization: 'Bearer x' });
  expect(sealed).not.toContain('Bearer');
  expect(await openReceiverHeaders(['new', 'old'], 'one', sealed)).toEqual({ authorization: 'Bearer x' });
  expect(await openReceiverHeaders(['new'], 'one', sealed)).toBeUndefined();
  expect(await openReceiverHeaders(['old'], 'two', sealed)).toBeUndefined();
  expect(await openReceiverHeaders(['old'], 'one', 'x')).toBeUndefined();
});
