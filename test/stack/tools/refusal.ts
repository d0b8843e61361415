/** Refused requests as the gateway notes them, for tests that begin with some. */
import type { Refusal } from '../../../edge/store/refusal.ts';

export const refusalOf = (clientId: string, more: Partial<Refusal> = {}): Refusal => ({
  clientId,
  surface: 'token',
  answer: '401',
  code: 'aud',
  reason: 'aud was "a"',
  requests: 1,
  firstAt: Date.now(),
  lastAt: Date.now(),
  requestIds: ['request-1'],
  sourceAddress: '192.0.2.1',
  ...more,
});

/** The statement and its one parameter, for a client other than the gateway. */
export const noteRefusalsSql = (...refusals: readonly Refusal[]): [text: string, values: string[]] => [
  'select refusals_note($1::json)',
  [JSON.stringify(refusals)],
];
