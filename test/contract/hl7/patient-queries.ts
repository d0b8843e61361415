/** Queries for the patient records of a site, in its database. */
import type { Client } from 'pg';

import { readObject } from '../../stack/tools/exact-json.ts';
import type { PatientSubject } from './identity-cases.ts';

/** Some cases store resources of many megabytes, in which each search for a text would take long. */
const HUGE_BYTES = 100_000;

export function patientQueries(
  client: Client,
  site: string,
): Pick<PatientSubject, 'patients' | 'patientsWith' | 'subjects' | 'listed' | 'records'> {
  return {
    async records(text) {
      const { rows } = await client.query<{ id: string; body: string; numbers: string[]; data: string[] }>(
        `select r.id, r.body,
                array(select distinct i.value from patient_identity i where i.site_id = $1 and i.id = r.id order by 1) as numbers,
                array(select distinct m[1] from resource x cross join regexp_matches(x.body, '"(of-[a-z0-9]+)"', 'g') m
                       where x.site_id = $1 and x.patient_id = r.id order by 1) as data
           from resource r
          where r.site_id = $1 and r.type = 'Patient'
            and octet_length(r.body) < ${HUGE_BYTES} and (r.body like '%' || $2 || '%' or exists (
              select from resource_history h
               where h.site_id = $1 and h.type = 'Patient' and h.id = r.id and octet_length(h.body) < ${HUGE_BYTES}
                 and h.body like '%' || $2 || '%'))
          order by r.id`,
        [site, text],
      );
      return rows.map(({ body, ...row }) => ({ ...row, content: readObject(`{${body}}`) }));
    },
    async patients(family) {
      const { rows } = await client.query<{ id: string; body: string }>(
        `select id, body from resource
          where site_id = $1 and type = 'Patient' and octet_length(body) < ${HUGE_BYTES} and body like '%' || $2 || '"%'
          order by id`,
        [site, family],
      );
      return rows.map(({ id, body }) => ({ id, content: readObject(`{${body}}`) }));
    },
    async patientsWith(...values) {
      const { rows } = await client.query<{ id: string }>(
        'select distinct id from patient_identity where site_id = $1 and value = any ($2) order by id',
        [site, values],
      );
      return rows.map(({ id }) => id);
    },
    async subjects(code) {
      const { rows } = await client.query<{ id: string }>(
        `select patient_id as id from resource
          where site_id = $1 and type = 'Observation' and octet_length(body) < ${HUGE_BYTES} and body like '%"' || $2 || '"%'`,
        [site, code],
      );
      return rows.map(({ id }) => id);
    },
    async listed(ids) {
      const { rows } = await client.query<{ kind: string }>(
        `select kind from issue where site_id = $1 and (patient_a = any ($2) or patient_b = any ($2)) order by kind`,
        [site, ids],
      );
      return rows.map(({ kind }) => kind);
    },
  };
}
