/** Charts of a subject's site, written over HL7 and FHIR. */
import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { chartQueries } from './chart-queries.ts';
import type { ChartSubject } from './identity-cases.ts';
import type { Subject } from './subject.ts';

export function chartsOf(subject: Subject): ChartSubject {
  const { gateway, db, site } = subject;
  return {
    ...chartQueries(db.client, site),
    async send(message) {
      const { text, errors } = await subject.post(message);
      return { outcome: /MSA\|(\w+)/.exec(text)?.[1] ?? '', errors };
    },
    async write(patient, id) {
      const key = await createApiKey(db.client, { site });
      const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
      const response = await fetch(`${gateway.fhirBaseUrl}/fhir/Patient${id === undefined ? '' : `/${id}`}`, {
        method: id === undefined ? 'POST' : 'PUT',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/fhir+json',
          ...(id !== undefined && { 'if-match': '*' }),
        },
        body: JSON.stringify({ ...patient, ...(id !== undefined && { id }) }),
      });
      const stored: unknown = await response.json();
      if (typeof stored !== 'object' || stored === null || !('id' in stored)) throw new Error(`${response.status}`);
      return String(stored.id);
    },
  };
}
