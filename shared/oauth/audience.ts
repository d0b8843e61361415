/** Audiences and protocols of access tokens (edge/docs/behaviour.md, Token service). */

export const PROTOCOLS = ['fhir', 'hl7', 'hl7-mllp'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** The protocol that a key must list for each audience. MLLP has no audience, because it uses no tokens. */
export const AUDIENCE_PROTOCOL = { 'svc-fhir': 'fhir', 'svc-hl7-http': 'hl7' } as const satisfies Record<
  string,
  Protocol
>;
export type Audience = keyof typeof AUDIENCE_PROTOCOL;
export const AUDIENCES = Object.keys(AUDIENCE_PROTOCOL) as readonly Audience[];

/** For a request without `audience` and a key without Allowed audiences. */
const DEFAULT_AUDIENCE: Audience = 'svc-fhir';

function isAudience(value: string): value is Audience {
  return Object.hasOwn(AUDIENCE_PROTOCOL, value);
}

export type ChosenAudience = { readonly audience: Audience } | { readonly reason: string };

/**
 * Chooses the `aud` of a token: the requested audience, else the first Allowed audience, else `svc-fhir`. The key must
 * allow it.
 *
 * @param requested the `audience` parameter
 */
export function chooseAudience(
  requested: string | undefined,
  allowed: readonly string[],
  protocols: readonly string[],
): ChosenAudience {
  const audience = requested ?? allowed[0] ?? DEFAULT_AUDIENCE;
  if (!isAudience(audience)) return { reason: `the audience is not known: it is one of ${AUDIENCES.join(', ')}` };
  if (allowed.length > 0 && !allowed.includes(audience)) {
    return { reason: `${audience} is not among the Allowed audiences of the API key: ${allowed.join(', ')}` };
  }
  const protocol = AUDIENCE_PROTOCOL[audience];
  if (protocols.includes(protocol)) return { audience };
  const asked = requested === undefined ? ', the audience when none is requested,' : '';
  return { reason: `${audience}${asked} needs protocol ${protocol}, which the API key does not list` };
}
