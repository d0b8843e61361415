/** The authors of the versions of a resource (migrations/functions/provenance_facts.sql). */
import * as z from 'zod';

import type { ResourceType } from '../../shared/resource-type.ts';
import type { Query } from '../deps.ts';
import { auditItem } from './audit.ts';
import { binder, instantOf } from './sql.ts';

const Facts = z.object({
  clientId: z.string().nullable(),
  elements: z.string().nullable(),
  message: z
    .object({ id: z.string(), type: z.string(), controlId: z.string(), application: z.string(), facility: z.string() })
    .nullable(),
  person: z.string().nullable(),
});

/** As the function returns them. A member is null where the record does not have it. */
export const readFacts = (facts: string): z.infer<typeof Facts> => Facts.parse(JSON.parse(facts));

/** A version of a resource, with its facts. */
export interface ProvenanceRow {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly last_updated: string;
  /** JSON (readFacts). */
  readonly facts: string;
}

/** SQL: the facts of a row with the columns of a version. @param site SQL */
export const factsOf = (site: string, alias: string): string =>
  `provenance_facts(${site}, ${alias}.type, ${alias}.id, ${alias}.version, ${alias}.last_updated, ${alias}.patient_id)::text`;

export interface ProvenanceSelection {
  readonly site: string;
  readonly type: ResourceType;
  readonly id: string;
  /** Null: all. */
  readonly version: number | null;
  /** Versions below this one; null: from the newest. */
  readonly below: number | null;
  readonly limit: number;
  readonly action: 'read' | 'search';
}

/** Newest first, one row more than a page. The audit records the resource. */
export function provenancePage(selection: ProvenanceSelection): Query<ProvenanceRow> {
  const { params, bind } = binder();
  const { version, below, limit, action } = selection;
  const site = `${bind(selection.site)}::uuid`;
  const where = [
    `site_id = ${site} and type = ${bind(selection.type)} and id = ${bind(selection.id)}::uuid`,
    ...(version === null ? [] : [`version = ${bind(version)}::integer`]),
    ...(below === null ? [] : [`version < ${bind(below)}::integer`]),
  ].join(' and ');
  const columns = 'type, id, version, last_updated, patient_id';
  const last = `order by version desc limit ${limit + 1}`;
  const text = `with v as materialized (
      select * from (
        select ${columns} from resource where ${where}
        union all (select ${columns} from resource_history where ${where} ${last})) v ${last}),
    noted as materialized (select audit_note(array(select ${auditItem(action, 'v')} from v limit 1)) as done)
  select v.type, v.id, v.version, ${instantOf('v.last_updated')} as last_updated, ${factsOf(site, 'v')} as facts
    from v cross join noted where noted.done order by v.version desc`;
  return { text, params, reads: true };
}
