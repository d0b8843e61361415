/** The final state of a site without its ids: equal lists are equal states. */
import { createHash } from 'node:crypto';

import type { Client } from 'pg';

import { parseJson, sortedJson } from '../../../shared/json.ts';
import { withSets } from '../../inputs/hl7-world.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** After so many rounds a reference shows the content of the resource that it refers to indirectly. */
const ROUNDS = 3;

/** All resources and the identifiers of the patients; the content of a resource replaces its id. */
export async function stateOf(client: Client, site: string): Promise<readonly string[]> {
  const { rows } = await client.query<{
    type: string;
    id: string;
    body: string;
    patient: string | null;
    numbers: string;
  }>(
    `select r.type, r.id, r.body, r.patient_id as patient,
            (select coalesce(json_agg(x order by x::text), '[]')::text
               from (select i.authority, i.value, bool_or(i.led) as led from patient_identity i
                      where i.site_id = r.site_id and i.id = r.id group by 1, 2) x) as numbers
       from resource r where r.site_id = $1`,
    [site],
  );
  let names: ReadonlyMap<string, string> = new Map(rows.map(({ type, id }) => [id, type]));
  const printedIds = (text: string): string =>
    text.replaceAll(UUID, (id) => names.get(id) ?? (id === site ? 'this-site' : id));
  const printed = ({ type, body, patient, numbers }: (typeof rows)[number]): string =>
    `${type} of ${printedIds(patient ?? 'no patient')} ${sortedJson(withSets(parseJson(printedIds(`{${body}}`))))} ${numbers}`;
  for (let round = 0; round < ROUNDS; round += 1)
    names = new Map(rows.map((row) => [row.id, createHash('sha256').update(printed(row)).digest('hex').slice(0, 8)]));
  return rows.map(printed).toSorted();
}
