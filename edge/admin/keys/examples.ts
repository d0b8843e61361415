/**
 * Programs that work for one API key as it is: its Client ID, its algorithm and kid, the addresses of this deployment.
 * Their text is all there is here; that they run is tested.
 */
import {
  ASSERTION_ALGORITHM_NAMES,
  type AssertionAlgorithm,
  isNamed,
  keyTypeFor,
} from '../../../shared/oauth/algorithms.ts';
import type { CheckedKey } from '../../../shared/oauth/jwks.ts';
import type { Config } from '../../config.ts';
import { mllpProgram } from './mllp-program.ts';
import type { KeyRow } from './statements.ts';

export interface Example {
  readonly title: string;
  readonly text: string;
}

interface Signing {
  readonly alg: AssertionAlgorithm;
  readonly kid: string | undefined;
}

/** An ECDSA signature of openssl is DER; a JWS wants the two numbers side by side (RFC 7518 §3.4). */
const ecdsa = (hash: string, digits: number) =>
  `openssl dgst -${hash} -sign private.pem -binary | openssl asn1parse -inform DER |\n` +
  `    sed -n 's/.*INTEGER *://p' | while read -r n; do printf '%${digits}s' "$n" | tr ' ' 0; done | xxd -r -p`;
const rsa = (hash: string) => `openssl dgst -${hash} -sign private.pem -binary`;
/** The salt is as long as the digest (RFC 7518 §3.5), which openssl calls -1. */
const rsaPss = (hash: string) =>
  `openssl dgst -${hash} -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:-1 -sign private.pem -binary`;

/** Shell that reads the signing input on standard input and writes the raw signature. */
const OPENSSL: Readonly<Record<AssertionAlgorithm, string>> = {
  RS256: rsa('sha256'),
  RS384: rsa('sha384'),
  PS256: rsaPss('sha256'),
  PS384: rsaPss('sha384'),
  ES256: ecdsa('sha256', 64),
  ES384: ecdsa('sha384', 96),
  // Ed25519 signs a file, not a stream.
  EdDSA: 'cat > signing-input && openssl pkeyutl -sign -rawin -inkey private.pem -in signing-input',
};

/** What SMART asks servers to support comes before the rest. */
const PREFERRED: readonly AssertionAlgorithm[] = ['RS384', 'ES384', ...ASSERTION_ALGORITHM_NAMES];

/** How the first usable key signs: by its own `alg`, else by the first that suits its type. */
function signingOf(keys: readonly CheckedKey[]): Signing {
  const key = keys.find(({ usable }) => usable);
  const own = key?.jwk['alg'];
  const alg =
    PREFERRED.find((name) => isNamed(name, own)) ?? PREFERRED.find((name) => keyTypeFor(name) === key?.type) ?? 'RS384';
  return { alg, kid: key?.kid };
}

interface Facts {
  readonly clientId: string;
  readonly endpoint: string;
  readonly scope: string;
  readonly audience: string;
  readonly signing: Signing;
  /** What is done with the token. */
  readonly use: Use;
}

interface Use {
  readonly curl: string;
  readonly node: string;
  readonly python: string;
}

const HL7_LINES = [
  'MSH|^~\\&|SENDER|FACILITY|GATEWAY|GATEWAY|20260101120000+0000||ADT^A04^ADT_A01|1|P|2.5.1',
  'EVN|A04|20260101120000+0000',
  'PID|1||12345^^^FACILITY^MR||Doe^Jane||19700101|F',
];

function fhirUse(base: string): Use {
  const url = `${base}/fhir/Patient?_count=5`;
  return {
    curl: `curl -s -H "Authorization: Bearer $token" -H 'Accept: application/fhir+json' '${url}'`,
    node: `const answer = await fetch('${url}', {\n  headers: { Authorization: \`Bearer \${access_token}\`, Accept: 'application/fhir+json' },\n});\nconsole.log(answer.status, await answer.text());`,
    python: `answer = requests.get("${url}",\n    headers={"Authorization": "Bearer " + token, "Accept": "application/fhir+json"})\nprint(answer.status_code, answer.text)`,
  };
}

function hl7Use(base: string): Use {
  const url = `${base}/hl7/messages`;
  const quoted = (quote: string) =>
    HL7_LINES.map((line) => `${quote}${line.replaceAll('\\', '\\\\')}${quote}`).join(',\n  ');
  return {
    curl: `printf '%s\\r' \\\n  ${HL7_LINES.map((line) => `'${line}'`).join(' \\\n  ')} |\n  curl -s -H "Authorization: Bearer $token" -H 'Content-Type: text/plain' --data-binary @- '${url}'`,
    node: `const message = [\n  ${quoted("'")},\n].join('\\r');\nconst answer = await fetch('${url}', {\n  method: 'POST',\n  headers: { Authorization: \`Bearer \${access_token}\`, 'Content-Type': 'text/plain' },\n  body: message,\n});\nconsole.log(answer.status, await answer.text());`,
    python: `message = "\\r".join([\n  ${quoted('"')},\n])\nanswer = requests.post("${url}", data=message.encode(),\n    headers={"Authorization": "Bearer " + token, "Content-Type": "text/plain"})\nprint(answer.status_code, answer.text)`,
  };
}

function curl({ clientId, endpoint, scope, audience, signing, use }: Facts): string {
  const kid = signing.kid === undefined ? '' : `,"kid":${JSON.stringify(signing.kid).replaceAll("'", `'\\''`)}`;
  return `#!/bin/sh
# Needs curl, openssl and xxd.
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
sign() {
  ${OPENSSL[signing.alg]}
}
now=$(date +%s)
header=$(printf '%s' '{"alg":"${signing.alg}","typ":"JWT"${kid}}' | base64url)
claims=$(printf '{"iss":"%s","sub":"%s","aud":"%s","jti":"%s","iat":%d,"exp":%d}' \\
  '${clientId}' '${clientId}' '${endpoint}' "$(openssl rand -hex 16)" "$now" $((now + 120)) | base64url)
signature=$(printf '%s.%s' "$header" "$claims" | sign | base64url)
token=$(curl -s '${endpoint}' \\
  --data-urlencode 'grant_type=client_credentials' \\
  --data-urlencode 'scope=${scope}' \\
  --data-urlencode 'audience=${audience}' \\
  --data-urlencode 'client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer' \\
  --data-urlencode "client_assertion=$header.$claims.$signature" |
  sed -n 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/p')
${use.curl}
`;
}

function node({ clientId, endpoint, scope, audience, signing, use }: Facts): string {
  const kid = signing.kid === undefined ? '' : `, kid: ${JSON.stringify(signing.kid)}`;
  return `// npm install jose
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { importPKCS8, SignJWT } from 'jose';

const key = await importPKCS8(readFileSync('private.pem', 'utf8'), '${signing.alg}');
const assertion = await new SignJWT({})
  .setProtectedHeader({ alg: '${signing.alg}', typ: 'JWT'${kid} })
  .setIssuer('${clientId}')
  .setSubject('${clientId}')
  .setAudience('${endpoint}')
  .setJti(randomUUID())
  .setIssuedAt()
  .setExpirationTime('2m')
  .sign(key);
const response = await fetch('${endpoint}', {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    scope: '${scope}',
    audience: '${audience}',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  }),
});
const { access_token } = await response.json();
${use.node}
`;
}

function python({ clientId, endpoint, scope, audience, signing, use }: Facts): string {
  const headers =
    signing.kid === undefined ? '{"typ": "JWT"}' : `{"typ": "JWT", "kid": ${JSON.stringify(signing.kid)}}`;
  return `# pip install "pyjwt[crypto]" requests
import time, uuid
import jwt, requests

now = int(time.time())
assertion = jwt.encode(
    {"iss": "${clientId}", "sub": "${clientId}", "aud": "${endpoint}",
     "jti": str(uuid.uuid4()), "iat": now, "exp": now + 120},
    open("private.pem").read(), algorithm="${signing.alg}", headers=${headers})
token = requests.post("${endpoint}", data={
    "grant_type": "client_credentials",
    "scope": "${scope}",
    "audience": "${audience}",
    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    "client_assertion": assertion,
}).json()["access_token"]
${use.python}
`;
}

function mllp(key: KeyRow, config: Config): Example[] {
  const host = config.INTEGRATION_HL7_MTTP_DOMAIN;
  const port = config.INTEGRATION_HL7_MTTP_PORT;
  if (!key.protocols.includes('hl7-mllp') || host === undefined || port === undefined) return [];
  const [msh = '', ...rest] = HL7_LINES;
  const sender = msh
    .replace('SENDER', key.hl7_sender_application ?? 'SENDER')
    .replace('FACILITY', key.hl7_sender_facility ?? 'FACILITY');
  const program = mllpProgram(host, port, [sender, ...rest]);
  const text = `# Needs nothing but Python. The address it runs from must be among the Allowed IPs.\n${program}`;
  return [{ title: 'Python: a message over MLLP', text }];
}

/** @param keys what was found in the JWKS: the first usable one is the key that signs */
export function examplesFor(key: KeyRow, keys: readonly CheckedKey[], config: Config): Example[] {
  const oauth = config.INTEGRATION_OAUTH_PUBLIC_BASE_URL;
  const surfaces = [
    {
      protocol: 'fhir',
      audience: 'svc-fhir',
      what: 'the FHIR API',
      base: config.INTEGRATION_FHIR_PUBLIC_BASE_URL,
      use: fhirUse,
    },
    {
      protocol: 'hl7',
      audience: 'svc-hl7-http',
      what: 'HL7 over HTTP',
      base: config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL,
      use: hl7Use,
    },
  ];
  const signing = signingOf(keys);
  const programs = surfaces.flatMap(({ protocol, audience, what, base, use }) => {
    const isAllowed = key.allowed_audiences.length === 0 || key.allowed_audiences.includes(audience);
    if (oauth === undefined || base === undefined || !key.protocols.includes(protocol) || !isAllowed) return [];
    const facts: Facts = {
      clientId: key.client_id,
      endpoint: `${oauth}/oauth2/token`,
      scope: key.allowed_scopes.join(' '),
      audience,
      signing,
      use: use(base),
    };
    return [
      { title: `curl and openssl: ${what}`, text: curl(facts) },
      { title: `Node with jose: ${what}`, text: node(facts) },
      { title: `Python with PyJWT: ${what}`, text: python(facts) },
    ];
  });
  return [...programs, ...mllp(key, config)];
}
