/** Checks what is public at a base URL: health, clock, transport, discovery, keys, FHIR. */
import * as z from 'zod';

import { isLoopbackHost } from '../../../../shared/ip.ts';
import { bad, failed, type Finding, good } from '../../../admin/health/finding.ts';
import { signingKeyAge } from '../../../admin/health/signing-key.ts';
import { ask } from './ask.ts';

const MAX_CLOCK_SECONDS = 30;
const SLOW_MS = 2_000;

const readiness = z.object({
  status: z.string(),
  detail: z.string().optional(),
  schemaVersion: z.number().optional(),
  version: z.string().optional(),
});
const discovery = z.object({ issuer: z.url(), token_endpoint: z.url(), jwks_uri: z.url() });
const jwks = z.object({ keys: z.array(z.object({ kid: z.string(), kty: z.string() })) });

async function transport(base: URL): Promise<Finding[]> {
  if (base.protocol !== 'https:') {
    if (isLoopbackHost(base.hostname)) return [good('TLS', 'not needed on this machine')];
    return [bad('TLS', 'the address is plain http', 'serve it over https only')];
  }
  const response = await ask(`${base.href}healthz`);
  const seconds = Number(/max-age=(\d+)/.exec(response.headers.get('strict-transport-security') ?? '')?.[1] ?? 0);
  return [
    good('TLS', 'the certificate is valid'),
    seconds > 0
      ? good('HSTS', `${Math.round(seconds / 86_400)} days`)
      : bad(
          'HSTS',
          'Strict-Transport-Security is missing, so browsers may use http',
          'configure the proxy in front to keep Strict-Transport-Security',
        ),
  ];
}

async function health(base: URL, now: () => number): Promise<Finding[]> {
  const started = now();
  const response = await ask(`${base.href}readyz`);
  const ms = now() - started;
  const { data } = readiness.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || data === undefined) {
    const detail = data?.detail ?? `/readyz answers ${response.status}`;
    if (response.status === 404)
      return [bad('ready', detail, 'give the base URL, without /fhir or another path of the API')];
    const next = /migrat/.test(detail)
      ? 'npm run migrate with the connection string of the owner'
      : 'edge/docs/operate.md, Runbook by symptom';
    return [bad('ready', detail, next)];
  }
  const found = `schema ${data.schemaVersion ?? '?'}${data.version === undefined ? '' : `, version ${data.version}`}`;
  const off = Math.abs(now() - Date.parse(response.headers.get('date') ?? '')) / 1000;
  return [
    good('ready', found),
    ms > SLOW_MS
      ? bad(
          'latency',
          `/readyz takes ${ms} ms`,
          'place the Worker near the database (placement), and let the database run continuously',
        )
      : good('latency', `/readyz takes ${ms} ms`),
    // The header has whole seconds, and not every server sends it.
    off > MAX_CLOCK_SECONDS
      ? bad(
          'clock',
          `it differs from this machine's by ${Math.round(off)} s`,
          'set the clock of this machine or of the server',
        )
      : good('clock', Number.isNaN(off) ? 'the server sends no time' : "equal to this machine's"),
  ];
}

async function tokenService(base: URL, now: () => number): Promise<Finding[]> {
  const response = await ask(`${base.href}.well-known/smart-configuration`);
  const { data } = discovery.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || data === undefined) {
    const next = 'set INTEGRATION_OAUTH_PUBLIC_BASE_URL; run the doctor for the host of the token service or of FHIR';
    return [bad('discovery', `/.well-known/smart-configuration answers ${response.status}`, next)];
  }
  const keys = jwks.safeParse(await (await ask(data.jwks_uri)).json().catch(() => undefined)).data?.keys ?? [];
  // A request without a client leaves no record.
  const token = await ask(data.token_endpoint, { method: 'POST', body: new URLSearchParams() });
  return [
    good('discovery', data.issuer),
    token.status === 400
      ? good('token endpoint', data.token_endpoint)
      : bad(
          'token endpoint',
          `it answers ${token.status} to a form without content, not 400`,
          'check which server answers there',
        ),
    signingKeyAge(keys, now()),
  ];
}

async function fhir(base: URL): Promise<Finding[]> {
  const response = await ask(`${base.href}fhir/metadata`);
  // The host serves another surface.
  if (response.status === 404) return [];
  const { data } = z.object({ fhirVersion: z.string() }).safeParse(await response.json().catch(() => undefined));
  return data?.fhirVersion === '4.0.1'
    ? [good('FHIR', 'R4 (4.0.1)')]
    : [bad('FHIR', `/fhir/metadata answers ${response.status}`, 'set INTEGRATION_FHIR_PUBLIC_BASE_URL')];
}

/**
 * Stops at the first address that does not answer, since the others would report the same cause.
 *
 * @param now milliseconds since the epoch
 */
export async function checkAddress(base: URL, now: () => number): Promise<readonly Finding[]> {
  const checks: readonly (readonly [string, () => Promise<Finding[]>])[] = [
    ['TLS', () => transport(base)],
    ['ready', () => health(base, now)],
    ['discovery', () => tokenService(base, now)],
    ['FHIR', () => fhir(base)],
  ];
  const found: Finding[] = [];
  for (const [subject, check] of checks) {
    try {
      found.push(...(await check()));
    } catch (error) {
      return [...found, failed(subject, error)];
    }
  }
  return found;
}
