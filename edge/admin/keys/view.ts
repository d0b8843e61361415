/** API keys, their changes, findings and refusals as the JSON API answers them. */
import type { ChangeRow, KeyRow } from '../../store/admin-key.ts';
import type { FoundRefusal } from '../../store/admin-refusal.ts';
import { hintFor } from '../refusals/hints.ts';
import type { JwksFindings } from './rules.ts';

const parsed = (text: string | null): unknown => {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    // Put into the database by hand: shown as it is.
    return text;
  }
};

export function viewKey(row: KeyRow) {
  return {
    clientId: row.client_id,
    name: row.name,
    status: row.status,
    jwksUri: row.jwks_uri,
    jwks: parsed(row.jwks),
    tokenTtlSeconds: row.token_ttl_seconds,
    allowedScopes: row.allowed_scopes,
    allowedAudiences: row.allowed_audiences,
    protocols: row.protocols,
    allowedIps: row.allowed_ips,
    hl7SenderApplication: row.hl7_sender_application,
    hl7SenderFacility: row.hl7_sender_facility,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastRefusalAt: row.last_refusal,
  };
}

export function viewFindings({ keys, unreachable }: JwksFindings) {
  return {
    unreachable: unreachable ?? null,
    keys: keys.map(({ kid, type, size, use, usable, reason }) => ({
      kid: kid ?? null,
      type,
      size,
      use: use ?? null,
      usable,
      reason: reason ?? null,
    })),
  };
}

/** Columns of the history and the members they are answered as. */
const MEMBERS: Readonly<Record<string, string>> = {
  name: 'name',
  status: 'status',
  jwks_uri: 'jwksUri',
  jwks: 'jwks',
  token_ttl_seconds: 'tokenTtlSeconds',
  allowed_scopes: 'allowedScopes',
  allowed_audiences: 'allowedAudiences',
  protocols: 'protocols',
  allowed_ips: 'allowedIps',
  hl7_sender_application: 'hl7SenderApplication',
  hl7_sender_facility: 'hl7SenderFacility',
};

function toMembers(text: string | null): Record<string, unknown> | null {
  if (text === null) return null;
  const record: Record<string, unknown> = JSON.parse(text);
  return Object.fromEntries(
    Object.entries(MEMBERS).map(([column, member]) => {
      const value = record[column];
      return [member, member === 'jwks' && typeof value === 'string' ? parsed(value) : (value ?? null)];
    }),
  );
}

/** One change: who, when, and the members that differ, before and after. */
export function viewChange({ version, at, by, before, after }: ChangeRow) {
  const [old, current] = [toMembers(before), toMembers(after)];
  const changed = Object.keys(current ?? {}).filter(
    (member) => JSON.stringify(old?.[member] ?? null) !== JSON.stringify(current?.[member] ?? null),
  );
  return { version, at, by, changed, before: old, after: current };
}

export function viewRefusal(row: FoundRefusal) {
  return {
    id: row.refusal_id,
    at: row.at,
    clientId: row.client_id,
    surface: row.surface,
    sourceAddress: row.source_address,
    requestId: row.request_id,
    code: row.code,
    reason: row.reason,
    hint: hintFor(row.code),
  };
}
