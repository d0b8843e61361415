/** Client IDs: `svc-` and a UUID (edge/docs/behaviour.md, Token service). */
import { isUuid } from '../uuid.ts';

const PREFIX = 'svc-';

export const clientIdOf = (uuid: string): string => PREFIX + uuid;

export const newClientId = (): string => clientIdOf(crypto.randomUUID());

/** The UUID of a Client ID. */
export const uuidOfClientId = (clientId: string): string => clientId.slice(PREFIX.length);

export const isClientId = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith(PREFIX) && isUuid(uuidOfClientId(value));
