/**
 * Parses the form of a request to the token service (RFC 6749 appendix B) strictly. It rejects
 * duplicate parameters, parameters in the query, other encodings and control characters.
 */
import { Fault } from '../../shared/fault.ts';
import { quote } from '../../shared/quote.ts';
import { readBody } from '../http/body.ts';
import { formDecoder } from '../http/form-body.ts';
import { refuse as refuseWith } from './refused.ts';

const MAX_FORM_BYTES = 16 * 1024;
const MAX_PARAMETERS = 20;
/** Without the tab, which the check of `scope` rejects with another code. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

export interface Form {
  /** Undefined if absent or empty (RFC 6749 §3.2: an empty value counts as omitted). */
  get(name: string): string | undefined;
  /** True also for an empty value. */
  has(name: string): boolean;
}

const refuse = (reason: string) => refuseWith({ code: 'form', reason });

/** @throws Refused 400, the status for every form that does not parse (RFC 6749 §5.2) */
function decoderOf(request: Request): ReturnType<typeof formDecoder> {
  try {
    return formDecoder(request.headers.get('content-type'));
  } catch (error) {
    throw error instanceof Fault ? refuse(error.message) : error;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw refuse('the form has a percent-escape that is not UTF-8');
  }
}

export function parseForm(body: string): Form {
  const values = new Map<string, string>();
  for (const pair of body.split('&')) {
    if (pair === '') continue;
    const [name = '', ...rest] = pair.split('=');
    const [decodedName, value] = [decode(name), decode(rest.join('='))];
    if (CONTROL.test(decodedName) || CONTROL.test(value)) throw refuse('the form has control characters');
    if (values.has(decodedName)) throw refuse(`the parameter ${quote(decodedName)} occurs twice`);
    if (values.size === MAX_PARAMETERS) throw refuse(`the form has more than ${MAX_PARAMETERS} parameters`);
    values.set(decodedName, value);
  }
  return { get: (name) => values.get(name) || undefined, has: (name) => values.has(name) };
}

/**
 * Reads the form of a POST; the form of a GET is empty.
 *
 * @throws Refused `invalid_request` (400; 413 over 16 KiB, 415 for a Content-Encoding)
 */
export async function readForm(request: Request): Promise<Form> {
  if (new URL(request.url).search !== '') throw refuse('send the parameters in the body, not in the query');
  if (request.method !== 'POST') return parseForm('');
  const textOf = decoderOf(request);
  try {
    return parseForm(textOf(await readBody(request, MAX_FORM_BYTES)));
  } catch (error) {
    if (error instanceof Fault) throw refuseWith({ code: 'form', reason: error.message }, error.kind);
    throw error;
  }
}
