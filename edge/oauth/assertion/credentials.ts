/**
 * Reads the credentials of a client (RFC 7521 §4.2, RFC 7523 §2.2): exactly one assertion in the form. The checks of its
 * content follow later.
 */
import type { JsonObject } from '../../../shared/json.ts';
import { isClientId } from '../../../shared/oauth/client-id.ts';
import { type Form, readForm } from '../form.ts';
import { refuse } from '../refused.ts';
import { type CompactJws, type ReadJws, readCompactJws } from './compact-jws.ts';

/** RFC 7523 §2.2. */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The credentials in a request to the token service. */
export interface Presented {
  readonly request: Request;
  readonly form: Form;
  /** The parsed assertion or its syntax error; undefined if the form has none. */
  readonly assertion: ReadJws | undefined;
  /** The Client ID that the assertion claims, not verified. */
  readonly claimedClient: string | undefined;
}

/** The client that an assertion claims: `sub` (RFC 7523 §3 rule 2.B), or `iss` if `sub` is not a Client ID. */
export const claimedClient = ({ sub, iss }: JsonObject): string | undefined => [sub, iss].find(isClientId);

/** @throws Refused `invalid_request` for a form that does not parse */
export async function readPresented(request: Request): Promise<Presented> {
  const form = await readForm(request);
  const text = form.get('client_assertion');
  const assertion = text === undefined ? undefined : readCompactJws(text);
  const isRead = assertion !== undefined && 'jws' in assertion;
  return { request, form, assertion, claimedClient: isRead ? claimedClient(assertion.jws.claims) : undefined };
}

/** True if a form contains an assertion or a part of one. */
export function hasAssertion({ form }: Presented): boolean {
  return form.has('client_assertion') || form.has('client_assertion_type');
}

const refuseForm = (reason: string) => refuse({ code: 'credentials', reason });

/**
 * The assertion of a request.
 *
 * @throws Refused 400 `invalid_request` if it is incomplete or not the only credential; the constant 401 if it is missing or
 *   does not parse
 */
export function requireAssertion({ request, form, assertion }: Presented): CompactJws {
  const type = form.get('client_assertion_type');
  const isSent = form.has('client_assertion');
  if (isSent && type === undefined) throw refuseForm('client_assertion is sent without client_assertion_type');
  if (type !== undefined && !isSent) throw refuseForm('client_assertion_type is sent without client_assertion');
  if (type !== undefined && type !== ASSERTION_TYPE) throw refuseForm(`client_assertion_type is not ${ASSERTION_TYPE}`);
  if (assertion === undefined) {
    // An empty assertion is a failed authentication, like any unsupported method.
    const reason = isSent
      ? 'the assertion is empty'
      : 'client_assertion is missing: it is the only way to authenticate';
    throw refuse({ code: 'authentication', reason });
  }
  if (request.headers.has('authorization')) {
    throw refuseForm('the request has an assertion and an Authorization header: use only one');
  }
  if (form.has('client_secret'))
    throw refuseForm('the request has an assertion and a client_secret: use only the assertion');
  if ('reason' in assertion) throw refuse({ code: 'format', reason: assertion.reason });
  return assertion.jws;
}
