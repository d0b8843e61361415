/** Patient records of a subject's site, written over HL7 and FHIR. */
import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import type { TestDatabase } from '../../stack/tools/database.ts';
import type { JsonObject } from '../../stack/tools/exact-json.ts';
import type { Gateway } from '../../stack/tools/gateway.ts';
import { bytesOf } from '../../stack/tools/hl7-text.ts';
import { patientQueries } from './patient-queries.ts';
import type { PatientSubject } from './identity-cases.ts';
import type { OrderSubject } from './order-cases.ts';
import { replyOf, type Reply, type Subject } from './subject.ts';

export function patientSubject(subject: Subject): PatientSubject {
  const { db, site, gateway } = subject;
  let other: Promise<Subject['post']> | undefined;
  const answered = ({ text, errors }: Reply) => ({ outcome: /MSA\|(\w+)/.exec(text)?.[1] ?? '', errors });
  return {
    ...patientQueries(db.client, site),
    send: async (message) => answered(await subject.post(message)),
    async sendByOther(message) {
      other ??= poster(gateway, db, site);
      return answered(await (await other)(message));
    },
    write: (patient, id) => written(subject, { ...patient, resourceType: 'Patient' }, id),
  };
}

/** Sends messages by a new key of the site. */
async function poster({ hl7BaseUrl, oauthBaseUrl }: Gateway, db: TestDatabase, site: string): Promise<Subject['post']> {
  const key = await createApiKey(db.client, { site, protocols: ['hl7'] });
  const token = await getToken(oauthBaseUrl, key, { audience: 'svc-hl7-http' });
  return async (message) =>
    replyOf(
      await fetch(`${hl7BaseUrl}/hl7/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
        body: Uint8Array.from(bytesOf(message)),
      }),
    );
}

/** The subject of the order cases, which writes over HL7 and FHIR. */
export function orderOf(subject: Subject): OrderSubject {
  return {
    db: subject.db,
    send: patientSubject(subject).send,
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
