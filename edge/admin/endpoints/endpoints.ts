/** The six endpoints, each configured or not (edge/docs/behaviour.md, Addresses and configuration). */
import { type Config, ENDPOINT_NAMES, type EndpointName } from '../../config.ts';

export interface Endpoint {
  readonly name: EndpointName;
  readonly status: 'configured' | 'not-configured';
  readonly value: string | null;
}

/** The titles of the endpoints. */
export const ENDPOINT_TITLES: Readonly<Record<EndpointName, string>> = {
  INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'Token service',
  INTEGRATION_FHIR_PUBLIC_BASE_URL: 'FHIR API',
  INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: 'HL7 over HTTP',
  INTEGRATION_HL7_MTTP_DOMAIN: 'HL7 over MLLP, domain',
  INTEGRATION_HL7_MTTP_PORT: 'HL7 over MLLP, port',
  INTEGRATION_DOCS_URL: 'API reference',
};

export function endpointsOf(config: Config): Endpoint[] {
  return ENDPOINT_NAMES.map((name) => {
    const value = config[name];
    return value === undefined
      ? { name, status: 'not-configured', value: null }
      : { name, status: 'configured', value: String(value) };
  });
}
