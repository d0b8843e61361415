/** What a key did since midnight at the site, in words: whoever disables it sees what ends. */
import { counted } from '../web/counted.ts';
import type { KeyRow } from './statements.ts';

type Today = Pick<KeyRow, 'tokens_today' | 'requests_today' | 'messages_today'>;

export const todayOf = (row: Today): string => {
  const { tokens_today: tokens, requests_today: requests, messages_today: messages } = row;
  const did = [
    ...(tokens === 0 ? [] : [counted(tokens, 'token')]),
    ...(requests === 0 ? [] : [counted(requests, 'FHIR request')]),
    ...(messages === 0 ? [] : [counted(messages, 'message')]),
  ];
  return did.length === 0 ? 'nothing' : did.join(', ');
};
