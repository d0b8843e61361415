/**
 * What a Worker has to do for a read at least: it verifies a token (RFC 9068) and makes one subrequest, whose answer it reads
 * and sends on. It is built into limits.ts; no product code.
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
