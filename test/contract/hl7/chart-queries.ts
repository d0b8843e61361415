/** Queries for the patient records of a site, in its database. */
import type { Client } from 'pg';

import { readObject } from '../../stack/tools/exact-json.ts';
import type { ChartSubject } from './identity-cases.ts';

export function chartQueries(
  client: Client,
  site: string,
): Pick<ChartSubject, 'patients' | 'patientsWith' | 'subjects' | 'listed'> {
  return {
    async patients(family) {
      const { rows } = await client.query<{ id: string; body: string }>(
        `select id, body from resource where site_id = $1 and type = 'Patient' and body like '%' || $2 || '"%' order by id`,
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
        `select patient_id as id from resource where site_id = $1 and type = 'Observation' and body like '%"' || $2 || '"%'`,
        [site, code],
      );
      return rows.map(({ id }) => id);
    },
    async listed(ids) {
      const { rows } = await client.query<{ kind: string }>(
        `select kind from attention where site_id = $1 and (patient_a = any ($2) or patient_b = any ($2)) order by kind`,
        [site, ids],
      );
      return rows.map(({ kind }) => kind);
    },
  };
}
