/** The fields of an API key's form as texts, from a key and from what a browser sends, and as the JSON API takes them. */
import type { KeyRow } from '../../store/admin-key.ts';

/** What stands in the fields: texts, as a browser sends them. */
export interface KeyFields {
  readonly name: string;
  readonly jwksUri: string;
  readonly jwks: string;
  readonly tokenTtlSeconds: string;
  readonly allowedScopes: readonly string[];
  readonly allowedAudiences: readonly string[];
  readonly protocols: readonly string[];
  readonly allowedIps: string;
  readonly hl7SenderApplication: string;
  readonly hl7SenderFacility: string;
}

export const EMPTY_KEY: KeyFields = {
  name: '',
  jwksUri: '',
  jwks: '',
  tokenTtlSeconds: '300',
  allowedScopes: [],
  allowedAudiences: [],
  protocols: ['fhir'],
  allowedIps: '',
  hl7SenderApplication: '',
  hl7SenderFacility: '',
};

/** An inline JWKS as people can read it. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export function fieldsOfKey(key: KeyRow): KeyFields {
  return {
    name: key.name,
    jwksUri: key.jwks_uri ?? '',
    jwks: key.jwks === null ? '' : prettyJson(key.jwks),
    tokenTtlSeconds: String(key.token_ttl_seconds),
    allowedScopes: key.allowed_scopes,
    allowedAudiences: key.allowed_audiences,
    protocols: key.protocols,
    allowedIps: key.allowed_ips.join(', '),
    hl7SenderApplication: key.hl7_sender_application ?? '',
    hl7SenderFacility: key.hl7_sender_facility ?? '',
  };
}

export function fieldsOfForm(form: URLSearchParams): KeyFields {
  const text = (name: string) => form.get(name) ?? '';
  return {
    name: text('name'),
    jwksUri: text('jwksUri'),
    jwks: text('jwks'),
    tokenTtlSeconds: text('tokenTtlSeconds'),
    allowedScopes: form.getAll('allowedScopes'),
    allowedAudiences: form.getAll('allowedAudiences'),
    protocols: form.getAll('protocols'),
    allowedIps: text('allowedIps'),
    hl7SenderApplication: text('hl7SenderApplication'),
    hl7SenderFacility: text('hl7SenderFacility'),
  };
}

/** What the fields say, as the JSON API takes it: the rules are the same. */
export function toInput(fields: KeyFields): Record<string, unknown> {
  const ttl = fields.tokenTtlSeconds.trim();
  return {
    ...fields,
    jwksUri: fields.jwksUri.trim() === '' ? null : fields.jwksUri,
    jwks: fields.jwks.trim() === '' ? null : fields.jwks,
    tokenTtlSeconds: ttl === '' ? undefined : Number(ttl),
  };
}
