import { newKey } from '../../../edge/admin/keys/keys.ts';
import type { KeyRow } from '../../../edge/admin/keys/statements.ts';
import { KEY_MEMBERS } from '../../../edge/members/api-key.ts';
import { toRecord } from '../../../edge/members/member.ts';

/** The row of an API key that was never used, as the console reads it. @param values its settings, and columns put over the row */
export const unusedKeyRow = (
  { clientId, ...settings }: { readonly clientId: string } & Readonly<Record<string, unknown>>,
  columns: Partial<KeyRow>,
): KeyRow => ({
  client_id: clientId,
  ...toRecord(KEY_MEMBERS, newKey.parse({ name: 'Example', tokenTtlSeconds: 300, ...settings })),
  allowed_scopes: [],
  version: 1,
  created_at: '',
  updated_at: '',
  last_refusal: null,
  name_key: '',
  last_used: null,
  tokens_today: 0,
  requests_today: 0,
  messages_today: 0,
  ...columns,
});
