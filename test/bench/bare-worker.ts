/**
 * The least work of a Worker for a read: it verifies a token (RFC 9068), makes one subrequest and forwards the answer.
 * `limits.ts` builds it. It contains no code of the gateway.
 */
import { importJWK, jwtVerify } from 'jose';

interface Bindings {
  /** Public key of the tokens, as JSON. */
  readonly KEY: string;
  readonly ISSUER: string;
  readonly ENDPOINT: string;
  readonly DATABASE_URL: string;
  /** Body of the one subrequest. */
  readonly QUERY: string;
}

let key: CryptoKey | Uint8Array | undefined;

export default {
  async fetch(request: Request, { KEY, ISSUER, ENDPOINT, DATABASE_URL, QUERY }: Bindings): Promise<Response> {
    key ??= await importJWK(JSON.parse(KEY), 'ES256');
    const token = request.headers.get('authorization')?.slice('Bearer '.length) ?? '';
    await jwtVerify(token, key, { issuer: ISSUER, typ: 'at+jwt', algorithms: ['ES256'] });
    const answer = await fetch(ENDPOINT, {
      method: 'POST',
      headers: {
        'Neon-Connection-String': DATABASE_URL,
        'Neon-Raw-Text-Output': 'true',
        'Neon-Array-Mode': 'true',
      },
      body: QUERY,
    });
    const { rows } = (await answer.json()) as { readonly rows: readonly string[][] };
    return new Response(rows[0]?.[0] ?? '', { headers: { 'Content-Type': 'application/fhir+json' } });
  },
};
