/** The example programs for one API key: its Client ID, algorithm and kid, and the addresses of this deployment. */
import { ASSERTION_ALGORITHM_NAMES, isNamed, keyTypeFor } from '../../../shared/oauth/algorithms.ts';
import type { AssertionAlgorithm } from '../../../shared/oauth/algorithms.ts';
import type { CheckedKey } from '../../../shared/oauth/jwks.ts';
import type { Config } from '../../config.ts';
import { mllpProgram } from '../../examples/mllp.ts';
import { PROGRAMS } from '../../examples/program.ts';
import { exampleMessage, messageRequest, searchRequest } from '../../examples/requests.ts';
import type { KeyRow } from './statements.ts';

export interface Example {
  readonly title: string;
  readonly text: string;
}

/** SMART asks servers to support the first two. */
const PREFERRED: readonly AssertionAlgorithm[] = ['RS384', 'ES384', ...ASSERTION_ALGORITHM_NAMES];

/** How the first usable key signs: by its own `alg`, else by the first algorithm of its type. */
function signingOf(keys: readonly CheckedKey[]): {
  readonly alg: AssertionAlgorithm;
  readonly kid: string | undefined;
} {
  const key = keys.find(({ usable }) => usable);
  const own = key?.jwk['alg'];
  const alg =
    PREFERRED.find((name) => isNamed(name, own)) ?? PREFERRED.find((name) => keyTypeFor(name) === key?.type) ?? 'RS384';
  return { alg, kid: key?.kid };
}

function mllp(key: KeyRow, config: Config): Example[] {
  const host = config.INTEGRATION_HL7_MTTP_DOMAIN;
  const port = config.INTEGRATION_HL7_MTTP_PORT;
  if (!key.protocols.includes('hl7-mllp') || host === undefined || port === undefined) return [];
  const message = exampleMessage(key.hl7_sender_application ?? undefined, key.hl7_sender_facility ?? undefined);
  const text = `# Needs Python alone. Run it at one of the Allowed IPs.\n${mllpProgram(host, port, message)}`;
  return [{ title: 'Python: a message over MLLP', text }];
}

/** @param keys the public keys of the JWKS; the first usable one signs */
export function examplesFor(key: KeyRow, keys: readonly CheckedKey[], config: Config): Example[] {
  const oauth = config.INTEGRATION_OAUTH_PUBLIC_BASE_URL;
  const fhir = config.INTEGRATION_FHIR_PUBLIC_BASE_URL;
  const hl7 = config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL;
  const surfaces = [
    {
      protocol: 'fhir',
      audience: 'svc-fhir',
      name: 'the FHIR API',
      request: fhir === undefined ? undefined : searchRequest(fhir, '_count=5'),
    },
    {
      protocol: 'hl7',
      audience: 'svc-hl7-http',
      name: 'HL7 over HTTP',
      request: hl7 === undefined ? undefined : messageRequest(hl7),
    },
  ];
  const signing = signingOf(keys);
  const programs = surfaces.flatMap(({ protocol, audience, name, request }) => {
    const isAllowed = key.allowed_audiences.length === 0 || key.allowed_audiences.includes(audience);
    if (oauth === undefined || request === undefined || !key.protocols.includes(protocol) || !isAllowed) return [];
    const client = {
      clientId: key.client_id,
      endpoint: `${oauth}/oauth2/token`,
      scope: key.allowed_scopes.join(' '),
      audience,
      ...signing,
    };
    return PROGRAMS.map(({ language, write }) => ({ title: `${language}: ${name}`, text: write(client, request) }));
  });
  return [...programs, ...mllp(key, config)];
}
