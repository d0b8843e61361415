/**
 * The page for the integrator of one API key: addresses, names and programs, in the order of use. It has no secret, and not
 * the name of the key, which is for the console alone.
 */
import type { CheckedKey } from '../../../shared/oauth/jwks.ts';
import type { Config } from '../../config.ts';
import { oauthAddresses } from '../../http/smart-configuration.ts';
import { type Example, examplesFor } from './examples.ts';
import type { KeyRow } from './statements.ts';

export interface HandoverPart {
  readonly title: string;
  readonly lead?: string;
  readonly facts?: readonly (readonly [name: string, value: string])[];
  readonly steps?: readonly string[];
  readonly examples?: readonly Example[];
}

const given = (name: string, value: string | number | null | undefined): (readonly [string, string])[] =>
  value === null || value === undefined || value === '' ? [] : [[name, String(value)]];

const listed = (texts: readonly string[], none: string): string => (texts.length === 0 ? none : texts.join(' '));

function tokenPart(key: KeyRow, config: Config): HandoverPart[] {
  if (!key.protocols.some((protocol) => protocol !== 'hl7-mllp')) return [];
  const { issuer, tokenEndpoint } = oauthAddresses(config);
  const [first] = key.allowed_audiences;
  return [
    {
      title: 'Get a token',
      lead: 'OAuth 2.0 client credentials with a signed assertion (private_key_jwt, RFC 7523; SMART Backend Services). Sign with your private key and never send it to us.',
      facts: [
        ['Discovery', `${issuer}/.well-known/smart-configuration`],
        ['Token endpoint, and aud of the assertion', tokenEndpoint],
        ['Client ID: iss and sub', key.client_id],
        ['Scopes', listed(key.allowed_scopes, 'none yet: ask for them')],
        [
          'Audience of the token',
          first === undefined
            ? 'svc-fhir for FHIR, svc-hl7-http for HL7 over HTTP'
            : `${key.allowed_audiences.join(', ')} (${first} if the request names none)`,
        ],
        ['Token lifetime', `${key.token_ttl_seconds} seconds: get the next token before it ends`],
      ],
    },
  ];
}

function surfaceParts(key: KeyRow, config: Config): HandoverPart[] {
  const has = (protocol: string) => key.protocols.includes(protocol);
  const fhir = config.INTEGRATION_FHIR_PUBLIC_BASE_URL;
  const hl7 = config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL;
  const host = config.INTEGRATION_HL7_MTTP_DOMAIN;
  const port = config.INTEGRATION_HL7_MTTP_PORT;
  const any = 'any';
  return [
    ...(has('fhir') && fhir !== undefined
      ? [
          {
            title: 'FHIR R4',
            facts: [
              ['Base URL', `${fhir}/fhir`],
              ['CapabilityStatement', `${fhir}/fhir/metadata`],
            ] as const,
          },
        ]
      : []),
    ...(has('hl7') && hl7 !== undefined
      ? [
          {
            title: 'HL7 v2 over HTTP',
            lead: 'One message in a POST, its segments separated by carriage returns. The answer is the acknowledgement: 200 with AA, 422 with AE or AR.',
            facts: [
              ['Address', `${hl7}/hl7/messages`],
              ['Content-Type', 'text/plain'],
            ] as const,
          },
        ]
      : []),
    ...(has('hl7-mllp')
      ? [
          {
            title: 'HL7 v2 over MLLP',
            lead: 'No token: the gateway recognizes a sender by its source address, MSH-3 and MSH-4. If a message gets no acknowledgement, send it again.',
            facts: [
              ['Host', host ?? 'not configured yet: ask for it'],
              ['Port', port === undefined ? 'not configured yet: ask for it' : String(port)],
              ['MSH-3, sending application', key.hl7_sender_application ?? any],
              ['MSH-4, sending facility', key.hl7_sender_facility ?? any],
              ['Your source addresses', listed(key.allowed_ips, 'none yet: name them to us')],
              ...given('Subject of your client certificate', key.tls_subject),
            ] as const,
          },
        ]
      : []),
  ];
}

const ROTATION_INLINE = [
  'Make a new key pair. Give its JWK a new kid.',
  'Send us the new public key. From then on both keys are valid.',
  'Sign with the new private key, and name its kid in the header of the assertion.',
  'When all your programs sign with it, ask us to remove the old public key.',
];
const ROTATION_URI = [
  'Make a new key pair. Give its JWK a new kid.',
  'Add the new public key to your JWKS, beside the old one.',
  'Sign with the new private key, and name its kid in the header of the assertion. For an unknown kid the gateway reads your JWKS again, at most every 30 seconds.',
  'One hour after the last use of the old key, remove it from your JWKS.',
];

function keysPart(key: KeyRow, keys: readonly CheckedKey[]): HandoverPart {
  const known = keys.filter(({ usable }) => usable).map(({ kid, type }) => `${kid ?? 'without a kid'} (${type})`);
  return {
    title: 'Your keys, and how to replace them',
    facts: [
      ...given('JWKS URI', key.jwks_uri),
      ['Your public keys', known.length === 0 ? 'none could be read now' : known.join(', ')],
    ],
    steps: key.jwks_uri === null ? ROTATION_INLINE : ROTATION_URI,
  };
}

/** @param keys the public keys of the JWKS; the programs sign with the first usable one */
export function handoverOf(
  key: KeyRow,
  keys: readonly CheckedKey[],
  siteName: string,
  config: Config,
): readonly HandoverPart[] {
  const examples = examplesFor(key, keys, config);
  return [
    {
      title: 'Your client',
      facts: [
        ['Site', siteName],
        ['Client ID', key.client_id],
        ...given('API reference', config.INTEGRATION_DOCS_URL),
        ...given('Contact', key.contact),
      ],
    },
    ...tokenPart(key, config),
    ...surfaceParts(key, config),
    keysPart(key, keys),
    ...(examples.length === 0
      ? []
      : [
          {
            title: 'Programs',
            lead: 'Complete programs for this client. They read your private key from private.pem (PKCS #8).',
            examples,
          },
        ]),
  ];
}

/** A code fence longer than any in the text (CommonMark §4.5). */
const fenced = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
};
/** Text in a table's cell, with Markdown's characters escaped. */
const plain = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>#|]/g, '\\$&').replaceAll(/\s+/g, ' ');

const markdownOf = ({ title, lead, facts = [], steps = [], examples = [] }: HandoverPart): string =>
  [
    `## ${title}`,
    ...(lead === undefined ? [] : [lead]),
    ...(facts.length === 0
      ? []
      : [
          ['| | |', '| --- | --- |', ...facts.map(([name, value]) => `| ${plain(name)} | ${plain(value)} |`)].join(
            '\n',
          ),
        ]),
    ...(steps.length === 0 ? [] : [steps.map((step, at) => `${at + 1}. ${step}`).join('\n')]),
    ...examples.flatMap((example) => [`### ${example.title}`, fenced(example.text)]),
  ].join('\n\n');

/** The parts as one Markdown file. */
export const toMarkdown = (title: string, parts: readonly HandoverPart[]): string =>
  `# ${plain(title)}\n\n${parts.map(markdownOf).join('\n\n')}\n`;
