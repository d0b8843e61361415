/** A member of the staff as the actor of audit events: by the provider's `sub`, never by name. */
import type { Context } from 'hono';

import type { Deps } from '../../deps.ts';
import type { GatewayEnv } from '../../http/surface.ts';
import type { AuditActor } from '../../store/audit.ts';
import type { Actor } from './actor.ts';

export const auditActorOf = (
  { sourceAddress }: Pick<Deps, 'sourceAddress'>,
  c: Context<GatewayEnv>,
  { subject }: Actor,
): AuditActor => ({
  kind: 'person',
  name: subject,
  clientId: null,
  address: sourceAddress(c.req.raw),
  requestId: c.get('requestId'),
});
