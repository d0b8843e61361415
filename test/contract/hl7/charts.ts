/** Patient records of a subject's site, written over HL7 and FHIR. */
import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import type { JsonObject } from '../../stack/tools/exact-json.ts';
import { chartQueries } from './chart-queries.ts';
import type { ChartSubject } from './identity-cases.ts';
import type { OrderSubject } from './order-cases.ts';
import type { Subject } from './subject.ts';

export function chartsOf(subject: Subject): ChartSubject {
  const { db, site } = subject;
  return {
    ...chartQueries(db.client, site),
    async send(message) {
      const { text, errors } = await subject.post(message);
      return { outcome: /MSA\|(\w+)/.exec(text)?.[1] ?? '', errors };
    },
    write: (patient, id) => written(subject, { ...patient, resourceType: 'Patient' }, id),
  };
}

/** The subject of the order cases, which writes over HL7 and FHIR. */
export function orderOf(subject: Subject): OrderSubject {
  return {
    db: subject.db,
    send: chartsOf(subject).send,
    update: async (resource) => void (await written(subject, resource, resource.id)),
  };
}

/** As a FHIR client writes: without an id a create. @returns the id */
async function written(
  { gateway, db, site }: Subject,
  resource: JsonObject & { readonly resourceType: string },
  id?: string,
): Promise<string> {
  const key = await createApiKey(db.client, { site });
  const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
  const response = await fetch(
    `${gateway.fhirBaseUrl}/fhir/${resource.resourceType}${id === undefined ? '' : `/${id}`}`,
    {
      method: id === undefined ? 'POST' : 'PUT',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/fhir+json',
        ...(id !== undefined && { 'if-match': '*' }),
      },
      body: JSON.stringify({ ...resource, ...(id !== undefined && { id }) }),
    },
  );
  const stored: unknown = await response.json();
  if (!response.ok || typeof stored !== 'object' || stored === null || !('id' in stored))
    throw new Error(`${response.status}`);
  return String(stored.id);
}
