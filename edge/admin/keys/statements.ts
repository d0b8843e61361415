/** The statements of API keys, with the columns of the record. */
import { keyStatements, type StoredKey } from '../../store/admin-key.ts';
import { KEY_COLUMNS, type KeyRecord } from '../../members/api-key.ts';

export type KeyRow = StoredKey & KeyRecord;

export const { readKey, listKeys, writeKey } = keyStatements<KeyRecord>(KEY_COLUMNS);
