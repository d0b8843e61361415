/** Forms of the console: read within a limit, every value of a name kept. */
import { Fault } from '../../../shared/fault.ts';
import { decodeUtf8, readBody } from '../../http/body.ts';

/** @throws Fault 400, 413 or 415 */
export async function readForm(request: Request, maxBytes = 256 * 1024): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers.get('content-type') ?? '')) {
    throw new Fault('unsupported-media-type', 'this page sends application/x-www-form-urlencoded');
  }
  return new URLSearchParams(decodeUtf8(await readBody(request, maxBytes)));
}

/** Messages by field, of a Fault's issues; `allowedIps[2]` belongs to `allowedIps`. */
export function errorsByField(fault: Fault): ReadonlyMap<string, readonly string[]> {
  const located = fault.issues.map(({ at, message }) => ({ field: (at ?? '').split(/[.[]/)[0] ?? '', message }));
  return new Map(
    [...Map.groupBy(located, ({ field }) => field)].map(([field, found]) => [
      field,
      found.map(({ message }) => message),
    ]),
  );
}
