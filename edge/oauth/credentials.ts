/**
 * How a client authenticates (RFC 7521 §4.2, RFC 7523 §2.2): one assertion in the form, and nothing beside it. Only finds
 * it; the checks of what it says come after.
 */
import type { Form } from './form.ts';
import { refuseClient, refuseRequest } from './refused.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const refuse = (reason: string) => refuseRequest('invalid_request', 'authentication', reason);

/** True where a form brings, or tries to bring, an assertion. */
export function hasAssertion(form: Form): boolean {
  return form.has('client_assertion') || form.has('client_assertion_type');
}

/**
 * The assertion of a request.
 *
 * @throws Refused 400 `invalid_request` where it is half there or not alone, the constant 401 where there is none
 */
export function readAssertion(request: Request, form: Form): string {
  const assertion = form.get('client_assertion');
  const type = form.get('client_assertion_type');
  const isSent = form.has('client_assertion');
  if (isSent && type === undefined) throw refuse('client_assertion is sent without client_assertion_type');
  if (type !== undefined && !isSent) throw refuse('client_assertion_type is sent without client_assertion');
  if (type !== undefined && type !== ASSERTION_TYPE) throw refuse(`client_assertion_type is not ${ASSERTION_TYPE}`);
  if (assertion === undefined) {
    // Sent empty is an attempt to authenticate that failed, as is any other way that we do not have.
    const reason = isSent ? 'the assertion is empty' : 'there is no client_assertion: the one way to authenticate';
    throw refuseClient({ code: 'authentication', reason });
  }
  if (request.headers.has('authorization')) throw refuse('an assertion and an Authorization header are sent: use one');
  if (form.has('client_secret')) throw refuse('an assertion and a client_secret are sent: use the assertion only');
  return assertion;
}
