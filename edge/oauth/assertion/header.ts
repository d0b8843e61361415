/** The rules for the header of a client assertion (RFC 7515 §4, RFC 8725 §3.1, §3.10, §3.11), one check for each rule. */
import { ASSERTION_ALGORITHM_NAMES, isAssertionAlgorithm } from '../../../shared/oauth/algorithms.ts';
import { quote } from '../../../shared/quote.ts';
import type { Check } from './check.ts';

export interface HeaderContext {
  /** The client's registered JWKS URI; null if its JWKS is inline or the client is unknown. */
  readonly jwksUri: string | null;
}

const MAX_KID_CHARACTERS = 256;
/** A key inside the assertion proves nothing: any sender can include its own. */
const KEY_MEMBERS = ['jwk', 'x5u', 'x5c', 'x5t', 'x5t#S256'] as const;

export const HEADER_CHECKS: readonly Check<HeaderContext>[] = [
  {
    code: 'alg',
    title: 'alg is one of the published algorithms',
    check: ({ alg }) =>
      isAssertionAlgorithm(alg)
        ? undefined
        : `alg was ${quote(alg)}, expected one of ${ASSERTION_ALGORITHM_NAMES.join(', ')}`,
  },
  {
    code: 'typ',
    title: 'typ is JWT, or absent',
    // An absent typ is accepted, since many libraries send none. Another typ means another kind of token (RFC 8725 §3.11).
    check: ({ typ }) =>
      typ === undefined || (typeof typ === 'string' && typ.toLowerCase() === 'jwt')
        ? undefined
        : `typ was ${quote(typ)}, expected "JWT"`,
  },
  {
    code: 'header',
    title: 'no crit, b64 or cty',
    check: (header) => {
      const found = ['crit', 'b64', 'cty'].find((member) => Object.hasOwn(header, member));
      return found === undefined ? undefined : `the header has ${found}, which is not supported`;
    },
  },
  {
    code: 'header',
    title: 'no key in the header',
    check: (header) => {
      const found = KEY_MEMBERS.find((member) => Object.hasOwn(header, member));
      return found === undefined ? undefined : `the header has ${found}: only keys from the registered JWKS are used`;
    },
  },
  {
    code: 'header',
    title: 'jku is the registered JWKS URI, or absent',
    check: ({ jku }, { jwksUri }) =>
      jku === undefined || (jwksUri !== null && jku === jwksUri)
        ? undefined
        : `jku was ${quote(jku)}, the API key has ${jwksUri === null ? 'no JWKS URI' : quote(jwksUri)}`,
  },
  {
    code: 'kid',
    title: 'kid is a string, or absent',
    check: ({ kid }) =>
      kid === undefined || (typeof kid === 'string' && kid !== '' && kid.length <= MAX_KID_CHARACTERS)
        ? undefined
        : `kid was ${quote(kid)}, expected a string of 1 to ${MAX_KID_CHARACTERS} characters`,
  },
];
