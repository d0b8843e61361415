/**
 * How a client authenticates (RFC 7521 §4.2, RFC 7523 §2.2): one assertion in the form, and nothing beside it. Only finds
 * and reads it; the checks of what it says come after.
 */
import { type Form, readForm } from '../form.ts';
import { refuse } from '../refused.ts';
import { claimedClient } from './client-id.ts';
import { type CompactJws, type ReadJws, readCompactJws } from './compact-jws.ts';

/** RFC 7523 §2.2. */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** What a request to the token service brings. */
export interface Presented {
  readonly request: Request;
  readonly form: Form;
  /** The assertion in the form as far as it can be read; undefined where there is none. */
  readonly assertion: ReadJws | undefined;
  /** Whom the assertion claims to come from. Not verified. */
  readonly claimedClient: string | undefined;
}

/** @throws Refused `invalid_request` for a form that cannot be read */
export async function readPresented(request: Request): Promise<Presented> {
  const form = await readForm(request);
  const text = form.get('client_assertion');
  const assertion = text === undefined ? undefined : readCompactJws(text);
  const isRead = assertion !== undefined && 'jws' in assertion;
  return { request, form, assertion, claimedClient: isRead ? claimedClient(assertion.jws.claims) : undefined };
}

/** True where a form brings, or tries to bring, an assertion. */
export function hasAssertion({ form }: Presented): boolean {
  return form.has('client_assertion') || form.has('client_assertion_type');
}

const refuseForm = (reason: string) => refuse({ code: 'credentials', reason });

/**
 * The assertion of a request, where it is alone and whole.
 *
 * @throws Refused 400 `invalid_request` where it is half there or not alone, the constant 401 where there is none or it
 *   cannot be read
 */
export function requireAssertion({ request, form, assertion }: Presented): CompactJws {
  const type = form.get('client_assertion_type');
  const isSent = form.has('client_assertion');
  if (isSent && type === undefined) throw refuseForm('client_assertion is sent without client_assertion_type');
  if (type !== undefined && !isSent) throw refuseForm('client_assertion_type is sent without client_assertion');
  if (type !== undefined && type !== ASSERTION_TYPE) throw refuseForm(`client_assertion_type is not ${ASSERTION_TYPE}`);
  if (assertion === undefined) {
    // Sent empty is an attempt to authenticate that failed, as is any other way that we do not have.
    const reason = isSent ? 'the assertion is empty' : 'there is no client_assertion: the one way to authenticate';
    throw refuse({ code: 'authentication', reason });
  }
  if (request.headers.has('authorization')) {
    throw refuseForm('an assertion and an Authorization header are sent: use one');
  }
  if (form.has('client_secret')) throw refuseForm('an assertion and a client_secret are sent: use the assertion only');
  if ('reason' in assertion) throw refuse({ code: 'format', reason: assertion.reason });
  return assertion.jws;
}
