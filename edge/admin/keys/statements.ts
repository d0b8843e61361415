/** The statements of API keys, with the columns of the record. */
import { keyStatements, type KeyVersion, type StoredKey } from '../../store/admin-key.ts';
import { KEY_COLUMNS, type KeyRecord } from '../../members/api-key.ts';

export type KeyRow = StoredKey & KeyRecord;
export type VersionedKey = KeyVersion & KeyRecord;

export const { readKey, readRecords, listKeys, writeKey } = keyStatements<KeyRecord>(KEY_COLUMNS);
