/**
 * The two OpenAPI 3.1 documents. The document for integrators has the configured surfaces with their base URLs, the document for
 * staff has the console's API. Both are made from the tables and schemas of the routes.
 */
import { typesOn } from '../../shared/resource-type.ts';
import type { Operation } from '../admin/api/operation.ts';
import { type Config, surfaceUrls } from '../config.ts';
import { adminPaths } from './admin-paths.ts';
import { API_VERSION } from './api-version.ts';
import { PROBE_PATHS } from './probe-paths.ts';
import { fhirPaths } from './fhir-paths.ts';
import { failures } from './answers.ts';
import { EXAMPLES, SAMPLE_ID } from './fhir-examples.ts';
import { fhirSchemas } from './fhir-schemas.ts';
import { HL7_PATHS } from './hl7-paths.ts';
import { HEADER_COMPONENTS, type PathItem, type Paths, type Schema } from './model.ts';
import { oauthPaths } from './oauth-paths.ts';
import { withSamples } from './sampled.ts';
import { SUBSCRIPTION_PATHS } from './subscription-paths.ts';

const DESCRIPTION = `FHIR R4, OAuth 2.0 (SMART Backend Services) and HL7 v2 for the integrations of a site.

1. An administrator of the site creates an API key in the console and gives you its Client ID.
2. Sign a client assertion with your private key, and get an access token from the token service.
3. Send the token as \`Authorization: Bearer …\` to the surface of its audience.

To try requests here, get a token with the form above, or paste a token under *Authorize*. This document is the
file [openapi.json](openapi.json) (OpenAPI 3.1), which Postman, Bruno and Insomnia import. *Versions* lists its changes.`;

const ADMINISTRATION = `The console's JSON API, for staff and their scripts. It needs the session of the console, or an access token of the staff's
OpenID provider. The API for integrators has a separate reference.`;

const object = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  example?: object,
): Schema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
  ...(example === undefined ? {} : { examples: [example] }),
});
const text: Schema = { type: 'string' };

const SCHEMAS: Readonly<Record<string, Schema>> = {
  CapabilityStatement: object({ resourceType: { const: 'CapabilityStatement' } }, ['resourceType']),
  Parameters: object(
    {
      resourceType: { const: 'Parameters' },
      parameter: { type: 'array', items: object({ name: text }, ['name']) },
    },
    ['resourceType'],
  ),
  Bundle: object(
    {
      resourceType: { const: 'Bundle' },
      type: text,
      total: { type: 'integer' },
      link: { type: 'array', items: object({ relation: text, url: text }) },
      entry: {
        type: 'array',
        items: object({
          fullUrl: text,
          resource: object({ resourceType: text }),
          search: object({ mode: text }),
          request: object({ method: text, url: text }),
          response: object({ status: text, location: text, etag: text, lastModified: text }),
        }),
      },
    },
    ['resourceType', 'type'],
    {
      resourceType: 'Bundle',
      type: 'searchset',
      total: 1,
      link: [{ relation: 'self', url: 'https://fhir.example.org/fhir/Patient?family=lovelace' }],
      entry: [
        {
          fullUrl: `https://fhir.example.org/fhir/Patient/${SAMPLE_ID}`,
          resource: { ...EXAMPLES.Patient, id: SAMPLE_ID },
          search: { mode: 'match' },
        },
      ],
    },
  ),
  OperationOutcome: object(
    {
      resourceType: { const: 'OperationOutcome' },
      issue: {
        type: 'array',
        items: object({ severity: text, code: text, diagnostics: text, expression: { type: 'array', items: text } }),
      },
    },
    [],
    {
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'information', code: 'informational', diagnostics: 'the resource is valid' }],
    },
  ),
  OauthError: object({ error: text, error_description: text }, ['error']),
};

const SUBSCRIPTION: Schema = {
  ...object(
    {
      resourceType: { const: 'Subscription' },
      status: text,
      reason: text,
      criteria: text,
      end: { type: 'string', format: 'date-time' },
      channel: object({ type: text, endpoint: text, payload: text }, ['type', 'endpoint', 'payload']),
    },
    ['resourceType', 'status', 'reason', 'criteria', 'channel'],
  ),
  description: 'As the Subscriptions R5 Backport IG 1.1 describes it for R4.',
};

const PROBLEM: Schema = {
  ...object(
    {
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: text,
      requestId: text,
      errors: {
        type: 'array',
        items: object({
          field: text,
          pointer: text,
          line: { type: 'integer', description: 'The line of a CSV file, from 1.' },
          code: text,
          detail: text,
        }),
      },
    },
    ['type', 'title', 'status'],
  ),
  description: 'Problem details (RFC 9457).',
};

function withServer(paths: Paths, baseUrl: string | undefined): [string, PathItem & { servers: object[] }][] {
  if (baseUrl === undefined) return [];
  const sampled = Object.entries(withSamples(paths, baseUrl));
  return sampled.map(([path, item]) => [path, { servers: [{ url: baseUrl }], ...item }]);
}

const info = (title: string, description: string): object => ({
  title,
  version: API_VERSION,
  description,
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
});

/** The document for integrators. */
export function partnerDocument(config: Config): object {
  const types = typesOn(config);
  return {
    openapi: '3.1.1',
    info: info('Integration gateway', DESCRIPTION),
    paths: Object.fromEntries([
      ...withServer(oauthPaths(types), config.INTEGRATION_OAUTH_PUBLIC_BASE_URL),
      ...withServer(
        { ...fhirPaths(config.FHIR_SEARCH, types), ...(config.FHIR_SUBSCRIPTIONS ? SUBSCRIPTION_PATHS : {}) },
        config.INTEGRATION_FHIR_PUBLIC_BASE_URL,
      ),
      ...withServer(HL7_PATHS, config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL),
      ...withServer(PROBE_PATHS, surfaceUrls(config)[0]),
    ]),
    components: {
      headers: HEADER_COMPONENTS,
      responses: { ...failures('Fhir'), ...failures('Oauth'), ...failures('Hl7'), ...failures('Problem') },
      schemas: {
        ...fhirSchemas(types),
        ...SCHEMAS,
        ...(config.FHIR_SUBSCRIPTIONS ? { Subscription: SUBSCRIPTION } : {}),
        Problem: PROBLEM,
      },
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token of the token service, for FHIR and HL7.',
        },
      },
    },
  };
}

/** The document for staff and their scripts. @param operations the routes of `/admin/api` */
export function administrationDocument(config: Config, operations: readonly Operation[]): object {
  return {
    openapi: '3.1.1',
    info: info('Administration of the integration gateway', ADMINISTRATION),
    paths: Object.fromEntries(withServer(adminPaths(operations), config.ADMIN_PUBLIC_BASE_URL)),
    components: {
      headers: HEADER_COMPONENTS,
      responses: failures('Problem'),
      schemas: { Problem: PROBLEM },
      securitySchemes: {
        staffToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'An access token of the staff’s OpenID provider. With several sites, the header Gateway-Site names the site. Staff who are signed in to the console need no token.',
        },
      },
    },
  };
}
