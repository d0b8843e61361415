/** Callers as the bearer check leaves them, for tests that begin behind it. */
import { randomUUID } from 'node:crypto';

import type { CallerIdentity } from '../../../edge/store/api-key.ts';

export const callerOf = (
  site: string,
  clientId: string,
  more: Partial<Omit<CallerIdentity, 'site' | 'clientId'>> = {},
): CallerIdentity => ({ site, clientId, tokenId: randomUUID(), audience: 'svc-hl7-http', scopes: new Set(), ...more });
