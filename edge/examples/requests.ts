/** The requests of the examples: to get a token, to search, to create a patient, to send a message. */
import type { ExampleRequest } from './request.ts';

const FHIR_JSON = 'application/fhir+json';

/** RFC 7523 §2.2, with the assertion in the variable `CLIENT_ASSERTION`. */
export const tokenRequest = (endpoint: string, scope: string, audience: string): ExampleRequest => ({
  method: 'POST',
  url: endpoint,
  headers: {},
  body: {
    form: {
      grant_type: 'client_credentials',
      scope,
      audience,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: '$CLIENT_ASSERTION',
    },
  },
  needsToken: false,
});

/** @param base the FHIR base URL, without `/fhir`; `query` as a URL has it */
export const searchRequest = (base: string, query: string): ExampleRequest => ({
  method: 'GET',
  url: `${base}/fhir/Patient?${query}`,
  headers: { Accept: FHIR_JSON },
  needsToken: true,
});

export const createRequest = (base: string, patient: object): ExampleRequest => ({
  method: 'POST',
  url: `${base}/fhir/Patient`,
  headers: { 'Content-Type': FHIR_JSON },
  body: { json: patient },
  needsToken: true,
});

/** The segments of a small message. @param application MSH-3 @param facility MSH-4 and the assigning authority */
export const exampleMessage = (application = 'SENDER', facility = 'FACILITY'): readonly string[] => [
  `MSH|^~\\&|${application}|${facility}|GATEWAY|GATEWAY|20260101120000+0000||ADT^A04^ADT_A01|1|P|2.5.1`,
  'EVN|A04|20260101120000+0000',
  `PID|1||12345^^^${facility}^MR||Doe^Jane||19700101|F`,
];

/** @param base the HL7 base URL, without `/hl7` */
export const messageRequest = (base: string): ExampleRequest => ({
  method: 'POST',
  url: `${base}/hl7/messages`,
  headers: { 'Content-Type': 'text/plain' },
  body: `${exampleMessage().join('\r')}\r`,
  needsToken: true,
});
