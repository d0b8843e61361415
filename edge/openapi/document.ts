/**
 * The two OpenAPI 3.1 documents: for integrators, of the surfaces that are configured, each with its own base URL, and for
 * staff, of the console's API. Made from the tables and schemas that the routes are made from.
 */
import type { Operation } from '../admin/api/operation.ts';
import { type Config, surfaceUrls } from '../config.ts';
import { adminPaths } from './admin-paths.ts';
import { API_VERSION } from './api-version.ts';
import { PROBE_PATHS } from './probe-paths.ts';
import { fhirPaths } from './fhir-paths.ts';
import { failures } from './answers.ts';
import { fhirSchemas } from './fhir-schemas.ts';
import { HL7_PATHS } from './hl7-paths.ts';
import { HEADER_COMPONENTS, type PathItem, type Paths, type Schema } from './model.ts';
import { OAUTH_PATHS } from './oauth-paths.ts';
import { withSamples } from './sampled.ts';

const DESCRIPTION = `FHIR R4, OAuth 2.0 (SMART Backend Services) and HL7 v2 for the integrations of a site.

1. An administrator of the site makes an API key in the console and gives you its Client ID.
2. Sign a client assertion with your private key and get an access token at the token service.
3. Send it as \`Authorization: Bearer …\` to the surface that its audience names.

To try requests here, get a token with the form above; one from elsewhere can be pasted under *Authorize*. This document is
a file, [openapi.json](openapi.json), that Postman, Bruno and Insomnia import (OpenAPI 3.1); what may change in it is told under *Versions*.`;

const ADMINISTRATION = `The console's JSON API, for staff and their scripts: with the session of the console, or an access token of the staff's
OpenID provider. What integrators call has a reference of its own.`;

const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
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
  ),
  OperationOutcome: object({
    resourceType: { const: 'OperationOutcome' },
    issue: {
      type: 'array',
      items: object({ severity: text, code: text, diagnostics: text, expression: { type: 'array', items: text } }),
    },
  }),
  OauthError: object({ error: text, error_description: text }, ['error']),
};

const PROBLEM: Schema = {
  ...object(
    {
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: text,
      requestId: text,
      errors: { type: 'array', items: object({ field: text, pointer: text, code: text, detail: text }) },
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

/** What integrators call. */
export function partnerDocument(config: Config): object {
  return {
    openapi: '3.1.1',
    info: info('Integration gateway', DESCRIPTION),
    paths: Object.fromEntries([
      ...withServer(OAUTH_PATHS, config.INTEGRATION_OAUTH_PUBLIC_BASE_URL),
      ...withServer(fhirPaths(config.FHIR_SEARCH), config.INTEGRATION_FHIR_PUBLIC_BASE_URL),
      ...withServer(HL7_PATHS, config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL),
      ...withServer(PROBE_PATHS, surfaceUrls(config)[0]),
    ]),
    components: {
      headers: HEADER_COMPONENTS,
      responses: { ...failures('Fhir'), ...failures('Oauth'), ...failures('Hl7') },
      schemas: { ...fhirSchemas(), ...SCHEMAS },
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

/** What staff and their scripts call. @param operations those of `/admin/api` */
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
            'An access token of the staff’s OpenID provider; one of several sites says which in the header Gateway-Site. Whoever is signed in to the console needs none.',
        },
      },
    },
  };
}
