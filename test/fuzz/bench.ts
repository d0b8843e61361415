/**
 * The bench of an integrator: checks, refusals and the check list of one key. Beside it are a key and a patient of its site, whose
 * facts no answer may have. Inputs have what a neighbour can know: identifiers, control ids and order numbers.
 */
import type { Client } from 'pg';

import { makeLink } from '../../edge/http/key-link.ts';
import { ASSERTION_TYPE, clientAssertion, getToken } from '../stack/services/client.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import type { TestConsole } from '../stack/tools/console.ts';

export interface Bench {
  readonly key: ApiKey;
  /** The secret of a link of the key. */
  readonly link: string;
  /** Words that only the other key and its patients have. */
  readonly planted: readonly string[];
}

/** Identifiers that the other key has used, and that each client may send. */
export const KNOWN = { mrn: '471147', control: 'GUESS-1', order: 'GUESS-ORDER' } as const;

const PLANTED = ['Qzyfamily', 'Qzygiven', 'Qzystreet', 'Qzyresult', 'qzy.example', 'Qzykey', 'QZYAUTH', 'qzyaudience'];
const [FAMILY, GIVEN, STREET, RESULT, HOST, KEY, AUTHORITY, AUDIENCE] = PLANTED;

/** Stores facts by real requests of the other key. */
async function plant({ gateway }: TestConsole, other: ApiKey): Promise<void> {
  const token = await getToken(gateway.oauthBaseUrl, other, { audience: 'svc-hl7-http' });
  const pid = `PID|1||${KNOWN.mrn}^^^${AUTHORITY}&urn:${HOST}&URI^MR||${FAMILY}^${GIVEN}||19691112|F|||${STREET} 1^^Wien`;
  const messages = [
    `MSH|^~\\&|LAB|HOSP|G|S|20260101||ADT^A08^ADT_A01|${KNOWN.control}|P|2.5.1\r${pid}`,
    `MSH|^~\\&|LAB|HOSP|G|S|20260101||ORU^R01^ORU_R01|GUESS-2|P|2.5.1\r${pid}\rOBR|1||${KNOWN.order}|1^P^L|||20260101|||||||||||||||||F\rOBX|1|ST|1^a^L||${RESULT}||||||F`,
    `MSH|^~\\&|LAB|HOSP|G|S|20260101||ORU^R01^ORU_R01|GUESS-3|P|2.5.1\r${pid}`,
  ];
  for (const body of messages) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' };
    const answer = await fetch(`${gateway.hl7BaseUrl}/hl7/messages`, { method: 'POST', headers, body });
    if (answer.status >= 500 || answer.status === 401) throw new Error(`planting: ${answer.status}`);
  }
  // The reason of this refusal quotes the audience.
  const assertion = await clientAssertion(other, `${gateway.oauthBaseUrl}/oauth2/token`, { claims: { aud: AUDIENCE } });
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_assertion: assertion,
    client_assertion_type: ASSERTION_TYPE,
  });
  await fetch(`${gateway.oauthBaseUrl}/oauth2/token`, { method: 'POST', body });
}

export async function createBench(client: Pick<Client, 'query'>, console: TestConsole): Promise<Bench> {
  const site = await createSite(client, { name: 'Bench' });
  const key = await createApiKey(client, { site, protocols: ['fhir', 'hl7'], tokenTtlSeconds: 3600 });
  const other = await createApiKey(client, { site, protocols: ['fhir', 'hl7'], name: `${KEY}` });
  await plant(console, other);
  const { link, secret } = await makeLink(site, key.clientId);
  await client.query(
    `insert into key_link (site_id, link_id, client_id, secret_sha256, created_by, expires_at)
       values ($1, $2, $3, $4, 'fuzz', now() + interval '1 day')`,
    [site, link.linkId, key.clientId, link.sha256],
  );
  return { key, link: secret, planted: PLANTED };
}

/** The planted words in an answer. */
export const leaksIn = ({ planted }: Bench, text: string): string[] =>
  planted.filter((word) => text.toLowerCase().includes(word.toLowerCase()));
