/** Sites and API keys put into a database directly, for the local stack's demo data and for tests. */
import { randomUUID } from 'node:crypto';

import { calculateJwkThumbprint, type JWK } from 'jose';
import type { Client } from 'pg';

import { makeKeyPair } from './key-pair.ts';
import { newKey } from '../../../edge/admin/keys/keys.ts';
import { KEY_MEMBERS, type KeyRecord } from '../../../edge/members/api-key.ts';
import { writeKey } from '../../../edge/admin/keys/statements.ts';
import { toRecord } from '../../../edge/members/member.ts';
import { SITE_MEMBERS } from '../../../edge/admin/settings/record.ts';
import { newSite, writeSite } from '../../../edge/admin/settings/site.ts';
import { addSiteAddress } from '../../../edge/store/site-address.ts';
import { SCOPES } from '../../../shared/oauth/scope.ts';

export { SCOPES as ALL_SCOPES } from '../../../shared/oauth/scope.ts';

export interface SiteOptions {
  readonly name?: string;
  readonly timeZone?: string;
  readonly processingIds?: readonly string[];
  readonly assigningAuthorities?: Readonly<Record<string, string>>;
  /** Source addresses for MLLP instead of what the site has by itself: the first one all, others none. */
  readonly addresses?: readonly string[];
}

/** @returns the new site's id */
export async function createSite(client: Pick<Client, 'query'>, options: SiteOptions = {}): Promise<string> {
  const site = randomUUID();
  const record = {
    ...toRecord(SITE_MEMBERS, newSite.parse({ name: options.name ?? 'Test site' })),
    time_zone: options.timeZone ?? null,
    processing_ids: options.processingIds ?? ['P'],
    assigning_authorities: options.assigningAuthorities ?? {},
  };
  const { text, params } = writeSite({ site, expected: null, by: 'seed', record });
  await client.query(text, [...params]);
  if (options.addresses !== undefined) await client.query('delete from site_address where site_id = $1', [site]);
  for (const range of options.addresses ?? []) {
    const assign = addSiteAddress(site, { range, application: '', facility: '', tlsSubject: '' }, 'seed');
    await client.query(assign.text, [...assign.params]);
  }
  return site;
}

export interface ApiKeyOptions {
  readonly site: string;
  readonly name?: string;
  readonly status?: 'active' | 'disabled';
  readonly scopes?: readonly string[];
  readonly audiences?: readonly string[];
  readonly protocols?: readonly string[];
  readonly patientMatch?: boolean;
  readonly subscriptionHosts?: readonly string[];
  readonly allowedIps?: readonly string[];
  readonly tlsSubject?: string;
  readonly senderApplication?: string;
  readonly senderFacility?: string;
  readonly tokenTtlSeconds?: number;
  /** Default ES256, which is five times as fast to check as ES384, one of the two that every SMART server must take. */
  readonly algorithm?: 'ES256' | 'ES384' | 'RS256' | 'RS384' | 'PS256' | 'PS384' | 'EdDSA';
  /** Replaces the generated JWKS. */
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
  const { publicJwk, privateJwk } = await makeKeyPair({ kid: `${clientId.slice(4, 12)}-1`, use: 'sig' }, alg);
  const jwks = options.jwksUri === undefined ? (options.jwks ?? { keys: [publicJwk] }) : null;
  const record: KeyRecord = {
    ...toRecord(KEY_MEMBERS, newKey.parse({ name: options.name ?? 'Test key', tokenTtlSeconds: 300 })),
    status: options.status ?? 'active',
    jwks_uri: options.jwksUri ?? null,
    jwks: jwks === null ? null : JSON.stringify(jwks),
    token_ttl_seconds: options.tokenTtlSeconds ?? 300,
    allowed_scopes: options.scopes ?? SCOPES,
    allowed_audiences: options.audiences ?? [],
    patient_match: options.patientMatch ?? false,
    subscription_hosts: options.subscriptionHosts ?? [],
    protocols: options.protocols ?? ['fhir', 'hl7'],
    allowed_ips: options.allowedIps ?? [],
    hl7_sender_application: options.senderApplication ?? null,
    hl7_sender_facility: options.senderFacility ?? null,
    tls_subject: options.tlsSubject ?? null,
  };
  // As the console does: a public key belongs to one client. Tests may bend a JWKS until it has no thumbprint.
  const owned = options.jwks === undefined && jwks !== null ? jwks.keys : [];
  const { text, params } = writeKey({
    site: options.site,
    clientId,
    expected: null,
    by: 'seed',
    record,
    ownedThumbprints: await Promise.all(owned.map((jwk) => calculateJwkThumbprint(jwk))),
    foreignThumbprints: [],
  });
  await client.query(text, [...params]);
  return { site: options.site, clientId, privateJwk };
}
