/** `_id` (FHIR R4 search, 3.1.1.4.1). */
import { isUuid } from '../../../../shared/uuid.ts';
import { oneOf } from '../compare.ts';
import type { Kind } from '../kind.ts';
import { RESOURCE } from '../source.ts';

interface IdCriterion {
  readonly kind: 'id';
  /** UUIDs; none matches nothing. */
  readonly ids: readonly string[];
  /** SQL of an array of the ids instead (related.ts). */
  readonly found?: string;
}

export const id = {
  type: 'token',
  // An id has no system. All ids of the server are UUIDs.
  read: ({ texts }) => ({ kind: 'id', ids: texts().filter(isUuid) }),
  meets: (write, { ids }) => ids.includes(write.id),
  rank: 0,
  source: () => RESOURCE,
  sql: ({ ids, found }, alias, { bind }) =>
    found === undefined ? oneOf(`${alias}.id`, ids, 'uuid', bind) : `${alias}.id = any (${found})`,
  listed: ({ found }) => (found === undefined ? undefined : `select unnest(${found}) as id`),
} as const satisfies Kind<IdCriterion>;
