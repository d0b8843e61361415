/** `_id` (FHIR R4 search, 3.1.1.4.1). */
import { isUuid } from '../../../../shared/uuid.ts';
import { oneOf } from '../compare.ts';
import type { Kind } from '../kind.ts';
import { RESOURCE } from '../source.ts';

interface IdCriterion {
  readonly kind: 'id';
  /** UUIDs; none matches nothing. */
  readonly ids: readonly string[];
}

export const id = {
  type: 'token',
  // An id has no system. All ids of the server are UUIDs.
  read: ({ texts }) => ({ kind: 'id', ids: texts().filter(isUuid) }),
  meets: (write, { ids }) => ids.includes(write.id),
  rank: 0,
  source: () => RESOURCE,
  sql: ({ ids }, alias, { bind }) => oneOf(`${alias}.id`, ids, 'uuid', bind),
} as const satisfies Kind<IdCriterion>;
