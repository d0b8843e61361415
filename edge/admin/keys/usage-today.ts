/** The use of an API key since midnight at the site, in words. */
import { counted } from '../web/counted.ts';
import type { KeyRow } from './statements.ts';

type Today = Pick<KeyRow, 'tokens_today' | 'requests_today' | 'messages_today'>;

export const usageToday = (row: Today): string => {
  const { tokens_today: tokens, requests_today: requests, messages_today: messages } = row;
  const parts = [
    ...(tokens === 0 ? [] : [counted(tokens, 'token')]),
    ...(requests === 0 ? [] : [counted(requests, 'FHIR request')]),
    ...(messages === 0 ? [] : [counted(messages, 'message')]),
  ];
  return parts.length === 0 ? 'nothing' : parts.join(', ');
};
