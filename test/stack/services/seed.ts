/** Sites and API keys put into a database directly, for the local stack's demo data and for tests. */
import { randomUUID } from 'node:crypto';

import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Client } from 'pg';

import { SCOPES } from '../../../shared/oauth/scope.ts';

export { SCOPES as ALL_SCOPES } from '../../../shared/oauth/scope.ts';

export interface SiteOptions {
  readonly name?: string;
  readonly timeZone?: string;
  readonly processingIds?: readonly string[];
  readonly assigningAuthorities?: Readonly<Record<string, string>>;
}

/** @returns the new site's id */
export async function createSite(client: Pick<Client, 'query'>, options: SiteOptions = {}): Promise<string> {
  const site = randomUUID();
  await client.query(
    `insert into site (site_id, name, time_zone, processing_ids, assigning_authorities) values ($1, $2, $3, $4, $5)`,
    [
      site,
      options.name ?? 'Test site',
      options.timeZone ?? null,
      options.processingIds ?? ['P'],
      JSON.stringify(options.assigningAuthorities ?? {}),
    ],
  );
  return site;
}

export interface ApiKeyOptions {
  readonly site: string;
  readonly name?: string;
  readonly status?: 'active' | 'disabled';
  readonly scopes?: readonly string[];
  readonly audiences?: readonly string[];
  readonly protocols?: readonly string[];
  readonly allowedIps?: readonly string[];
  readonly senderApplication?: string;
  readonly senderFacility?: string;
  readonly tokenTtlSeconds?: number;
  /** Default ES384, one of the two algorithms every SMART server must take; ES256 is five times as fast to check. */
  readonly algorithm?: 'ES256' | 'ES384' | 'RS256' | 'RS384' | 'PS256' | 'PS384' | 'EdDSA';
  /** Instead of a JWKS of our own making. */
  readonly jwks?: { readonly keys: readonly JWK[] };
  readonly jwksUri?: string;
}

/** A client as an integrator holds it: its id and its private key. */
export interface ApiKey {
  readonly site: string;
  readonly clientId: string;
  readonly privateJwk: JWK;
}

export async function createApiKey(client: Pick<Client, 'query'>, options: ApiKeyOptions): Promise<ApiKey> {
  const clientId = `svc-${randomUUID()}`;
  const alg = options.algorithm ?? 'ES256';
  const pair = await generateKeyPair(alg, { extractable: true });
  const kid = `${clientId.slice(4, 12)}-1`;
  const privateJwk = { ...(await exportJWK(pair.privateKey)), kid, alg, use: 'sig' };
  const publicJwk = { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' };
  const jwks = options.jwksUri === undefined ? (options.jwks ?? { keys: [publicJwk] }) : null;
  await client.query(
    `insert into api_key (site_id, client_id, name, status, jwks_uri, jwks, token_ttl_seconds, allowed_scopes,
       allowed_audiences, protocols, allowed_ips, hl7_sender_application, hl7_sender_facility)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      options.site,
      clientId,
      options.name ?? 'Test key',
      options.status ?? 'active',
      options.jwksUri ?? null,
      jwks === null ? null : JSON.stringify(jwks),
      options.tokenTtlSeconds ?? 300,
      options.scopes ?? SCOPES,
      options.audiences ?? [],
      options.protocols ?? ['fhir', 'hl7'],
      options.allowedIps ?? [],
      options.senderApplication ?? null,
      options.senderFacility ?? null,
    ],
  );
  // As the console does: a public key belongs to one client. Tests may bend a JWKS until it has no thumbprint.
  for (const jwk of options.jwks === undefined && jwks !== null ? jwks.keys : []) {
    await client.query(`insert into api_key_thumbprint (thumbprint, site_id, client_id) values ($1, $2, $3)`, [
      await calculateJwkThumbprint(jwk),
      options.site,
      clientId,
    ]);
  }
  return { site: options.site, clientId, privateJwk };
}
