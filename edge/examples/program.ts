/** Complete programs for one client, in three languages: sign an assertion, get a token, send one request. */
import type { AssertionAlgorithm } from '../../shared/oauth/algorithms.ts';
import { curl, type ExampleRequest, javascriptCall, pythonCall, type Variable } from './request.ts';
import { tokenRequest } from './requests.ts';

/** The client of a program. Its private key is in `private.pem` (PKCS #8). */
export interface ExampleClient {
  readonly clientId: string;
  readonly endpoint: string;
  readonly scope: string;
  readonly audience: string;
  readonly alg: AssertionAlgorithm;
  readonly kid: string | undefined;
}

/** The writers of programs, each with the name of its language and library. */
export const PROGRAMS = [
  { language: 'curl and openssl', fence: 'sh', write: shellProgram },
  { language: 'Node with jose', fence: 'js', write: nodeProgram },
  { language: 'Python with PyJWT', fence: 'python', write: pythonProgram },
] as const;

/** An ECDSA signature of openssl is DER; a JWS has the two numbers side by side (RFC 7518 §3.4). */
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

const tokenOf = ({ endpoint, scope, audience }: ExampleClient) => tokenRequest(endpoint, scope, audience);

/** Shell that takes the token from the answer on its standard input. */
const SED_TOKEN = `sed -n 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/p'`;
/** A command of the shell that gets a token and sets ACCESS_TOKEN. */
export const shellToken = (request: ExampleRequest): string => `ACCESS_TOKEN=$(${curl(request)} |\n  ${SED_TOKEN})`;

function shellProgram(client: ExampleClient, request: ExampleRequest): string {
  const { clientId, endpoint, alg, kid } = client;
  const named = kid === undefined ? '' : `,"kid":${JSON.stringify(kid).replaceAll("'", `'\\''`)}`;
  return `#!/bin/sh
# Needs curl, openssl and xxd.
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
sign() {
  ${OPENSSL[alg]}
}
client_id='${clientId}'
endpoint='${endpoint}'
now=$(date +%s)
header=$(printf '%s' '{"alg":"${alg}","typ":"JWT"${named}}' | base64url)
claims=$(printf '{"iss":"%s","sub":"%s","aud":"%s","jti":"%s","iat":%d,"exp":%d}' \\
  "$client_id" "$client_id" "$endpoint" "$(openssl rand -hex 16)" "$now" $((now + 120)) | base64url)
signature=$(printf '%s.%s' "$header" "$claims" | sign | base64url)
CLIENT_ASSERTION="$header.$claims.$signature"
response=$(${curl(tokenOf(client))})
ACCESS_TOKEN=$(printf '%s' "$response" | ${SED_TOKEN})
[ -n "$ACCESS_TOKEN" ] || { printf '%s\\n' "$response" >&2; exit 1; }
${curl(request)}
`;
}

/** Programs keep their variables in lower case. */
const ownVariable: Variable = (name) => name.toLowerCase();

function nodeProgram(client: ExampleClient, request: ExampleRequest): string {
  const { clientId, endpoint, alg, kid } = client;
  return `// npm install jose
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { importPKCS8, SignJWT } from 'jose';

const key = await importPKCS8(readFileSync('private.pem', 'utf8'), '${alg}');
const client_assertion = await new SignJWT({})
  .setProtectedHeader({ alg: '${alg}', typ: 'JWT'${kid === undefined ? '' : `, kid: ${JSON.stringify(kid)}`} })
  .setIssuer('${clientId}')
  .setSubject('${clientId}')
  .setAudience('${endpoint}')
  .setJti(randomUUID())
  .setIssuedAt()
  .setExpirationTime('2m')
  .sign(key);
const response = await ${javascriptCall(tokenOf(client), ownVariable)};
if (!response.ok) throw new Error(await response.text());
const { access_token } = await response.json();
const answer = await ${javascriptCall(request, ownVariable)};
console.log(answer.status, await answer.text());
`;
}

function pythonProgram(client: ExampleClient, request: ExampleRequest): string {
  const { clientId, endpoint, alg, kid } = client;
  return `# pip install "pyjwt[crypto]" requests
import sys, time, uuid
import jwt, requests

client_id = "${clientId}"
endpoint = "${endpoint}"
now = int(time.time())
client_assertion = jwt.encode(
    {"iss": client_id, "sub": client_id, "aud": endpoint,
     "jti": str(uuid.uuid4()), "iat": now, "exp": now + 120},
    open("private.pem").read(), algorithm="${alg}",
    headers={"typ": "JWT"${kid === undefined ? '' : `, "kid": ${JSON.stringify(kid)}`}})
response = ${pythonCall(tokenOf(client), ownVariable)}
if not response.ok:
    sys.exit(response.text)
access_token = response.json()["access_token"]
answer = ${pythonCall(request, ownVariable)}
print(answer.status_code, answer.text)
`;
}
