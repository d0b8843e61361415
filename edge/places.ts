/** The starting points of the surfaces, for a browser that opens a base URL. */
import type { Addresses } from './config.ts';

export interface Place {
  readonly baseUrl: string;
  readonly name: string;
  readonly start: string;
}

/** The configured surfaces. */
export function placesOf(config: Addresses): Place[] {
  const rows: readonly (readonly [string | undefined, string, string])[] = [
    [config.INTEGRATION_OAUTH_PUBLIC_BASE_URL, 'token service', '/.well-known/smart-configuration'],
    [config.INTEGRATION_FHIR_PUBLIC_BASE_URL, 'FHIR R4', '/fhir/metadata'],
    [config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL, 'HL7 v2 over HTTP (POST)', '/hl7/messages'],
    [config.ADMIN_PUBLIC_BASE_URL, 'console', '/admin'],
  ];
  return rows.flatMap(([baseUrl, name, path]) =>
    baseUrl === undefined ? [] : [{ baseUrl, name, start: `${baseUrl}${path}` }],
  );
}
