/**
 * What an integrator is given to connect with one API key: addresses, names and programs, in the order in which they are
 * needed. No secret is among it, and neither is what the key is called here, which is for the console alone.
 */
import type { CheckedKey } from '../../../shared/oauth/jwks.ts';
import type { Config } from '../../config.ts';
import { oauthAddresses } from '../../http/smart-configuration.ts';
import { type Example, examplesFor } from './examples.ts';
import type { KeyRow } from './statements.ts';

export interface HandoverPart {
  readonly title: string;
  /** Sentences before the rest. */
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
      title: 'Getting a token',
      lead: 'OAuth 2.0 client credentials with a signed assertion (private_key_jwt, RFC 7523; SMART Backend Services). No secret is shared: sign with your private key, and keep it to yourself.',
      facts: [
        ['Discovery', `${issuer}/.well-known/smart-configuration`],
        ['Token endpoint, and aud of the assertion', tokenEndpoint],
        ['Client ID: iss and sub', key.client_id],
        ['Scopes', listed(key.allowed_scopes, 'none yet: ask us')],
        [
          'Audience of the token',
          first === undefined
            ? 'svc-fhir for FHIR, svc-hl7-http for HL7 over HTTP'
            : `${key.allowed_audiences.join(', ')} (${first} when the request names none)`,
        ],
        ['A token lives', `${key.token_ttl_seconds} seconds: ask for the next one before that`],
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
              ['What it can do', `${fhir}/fhir/metadata`],
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
            lead: 'No token: a sender is known by the address it connects from, and by MSH-3 and MSH-4. A message without an acknowledgement was not stored: send it again.',
            facts: [
              ['Host', host ?? 'not configured yet: ask us'],
              ['Port', port === undefined ? 'not configured yet: ask us' : String(port)],
              ['MSH-3, sending application', key.hl7_sender_application ?? any],
              ['MSH-4, sending facility', key.hl7_sender_facility ?? any],
              ['You connect from', listed(key.allowed_ips, 'no address yet: ask us')],
              ...given('Subject of your client certificate', key.tls_subject),
            ] as const,
          },
        ]
      : []),
  ];
}

const ROTATION_INLINE = [
  'Make a new key pair. Give its JWK a kid of its own.',
  'Send us the new public key. Both are valid from then on.',
  'Sign with the new private key, and say its kid in the header of the assertion.',
  'Tell us when everything signs with it: then the old public key is taken out.',
];
const ROTATION_URI = [
  'Make a new key pair. Give its JWK a kid of its own.',
  'Add the new public key to your JWKS, beside the old one.',
  'Sign with the new private key, and say its kid in the header of the assertion. A kid that is not known yet is looked for at once, at most every 30 seconds.',
  'Take the old one out of your JWKS an hour later, when it is not in use any more.',
];

function keysPart(key: KeyRow, keys: readonly CheckedKey[]): HandoverPart {
  const known = keys.filter(({ usable }) => usable).map(({ kid, type }) => `${kid ?? 'without a kid'} (${type})`);
  return {
    title: 'Your keys, and replacing them',
    facts: [
      ...given('JWKS URI', key.jwks_uri),
      ['Public keys that we know', known.length === 0 ? 'none that could be looked at now' : known.join(', ')],
    ],
    steps: key.jwks_uri === null ? ROTATION_INLINE : ROTATION_URI,
  };
}

/** @param keys what was found in the JWKS: the first usable one is the key of the programs */
export function handoverOf(
  key: KeyRow,
  keys: readonly CheckedKey[],
  siteName: string,
  config: Config,
): readonly HandoverPart[] {
  const examples = examplesFor(key, keys, config);
  return [
    {
      title: 'What you are',
      facts: [
        ['Site', siteName],
        ['Client ID', key.client_id],
        ...given('API reference', config.INTEGRATION_DOCS_URL),
        ...given('Whom to ask', key.contact),
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
            lead: 'Complete, for this very client. They need your private key in private.pem (PKCS #8).',
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
/** Text that is not to be read as Markdown, in a table's cell. */
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

/** The same as one file. */
export const toMarkdown = (title: string, parts: readonly HandoverPart[]): string =>
  `# ${plain(title)}\n\n${parts.map(markdownOf).join('\n\n')}\n`;
