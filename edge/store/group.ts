/** The members of a Group (edge/docs/behaviour.md, FHIR, Groups). `group_members` reads them from a stored version. */
import type { Query } from '../deps.ts';
import type { JsonObject } from '../../shared/json.ts';
import { isUuid } from '../../shared/uuid.ts';
import { objectsAt, text } from './search/at-path.ts';
import { patientIdOf } from './search/kinds/patient.ts';
import { read } from './sql.ts';

/** The id of the patient that a member refers to; undefined for another reference. */
export function memberId(member: JsonObject): string | undefined {
  const id = patientIdOf(text(objectsAt(member, 'entity')[0]?.['reference']));
  return id !== undefined && isUuid(id) ? id : undefined;
}

/** The ids of the patients in a Group, each once. */
export const membersOf = (group: JsonObject): string[] => [
  ...new Set(objectsAt(group, 'member').flatMap((member) => memberId(member) ?? [])),
];

/** A row if the site has all the patients. */
export const patientsExist = (site: string, ids: readonly string[]): Query<{ readonly all_exist: boolean }> =>
  read<{ all_exist: boolean }>`select true as all_exist
    where (select count(*) from resource r where r.site_id = ${site}::uuid and r.type = 'Patient' and r.id = any (${ids}::uuid[]))
      = ${ids.length}::integer`;
