/** The authors of the versions of a resource (migrations/functions/provenance_facts.sql). */
import * as z from 'zod';

import type { ResourceType } from '../../shared/resource-type.ts';
import type { Query } from '../deps.ts';
import { auditItem } from './audit.ts';
import { binder, instantOf, siteOf } from './sql.ts';

const Message = z.object({
  id: z.string(),
  type: z.string(),
  controlId: z.string(),
  application: z.string(),
  facility: z.string(),
  receivedAt: z.string(),
  forgottenAt: z.string().nullable(),
});

const Facts = z.object({
  clientId: z.string().nullable(),
  elements: z.string().nullable(),
  message: Message.nullable(),
  person: z.string().nullable(),
});

export type VersionFacts = z.infer<typeof Facts>;
export type MessageFacts = z.infer<typeof Message>;

/** @param messages a JSON array of `messageFacts` */
export const readMessages = (messages: string): MessageFacts[] => z.array(Message).parse(JSON.parse(messages));

/** SQL: the facts of a message, as `provenance_facts` returns them. */
export const messageFacts = (alias: string): string =>
  `json_build_object('id', ${alias}.message_id, 'type', ${alias}.message_type, 'controlId', ${alias}.control_id,
     'application', ${alias}.sending_application, 'facility', ${alias}.sending_facility,
     'receivedAt', ${instantOf(`${alias}.received_at`)}, 'forgottenAt', ${instantOf(`${alias}.forgotten_at`)})`;

/** As the function returns them. A member is null where the record does not have it. */
export const readFacts = (facts: string): VersionFacts => Facts.parse(JSON.parse(facts));

/** The fields of each member of `elements`: `name PID-5 PID-9,birthDate PID-7`. */
export const fieldsByElement = (elements: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    elements.split(',').map((each) => {
      const [element = '', ...fields] = each.split(' ');
      return [element, fields];
    }),
  );

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
  const site = siteOf(bind, selection.site);
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
