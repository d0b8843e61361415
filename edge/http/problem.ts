/** Failures as problem details (RFC 9457), the error format of `/admin/api`. */
import type { Fault } from '../../shared/fault.ts';
import { FAULT_STATUS } from './fault-status.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'The request cannot be read',
  401: 'Sign in first',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  408: 'The request took too long to arrive',
  409: 'Conflict',
  412: 'Changed by another request meanwhile',
  413: 'Too large',
  415: 'Unsupported media type',
  422: 'The content is not acceptable',
  428: 'If-Match is required',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Not available at the moment',
};

/** A Fault `precondition-failed` with this code has no precondition (RFC 6585 §3). */
export const PRECONDITION_REQUIRED = 'precondition-required';

export function statusOf(fault: Fault): number {
  return fault.code === PRECONDITION_REQUIRED ? 428 : FAULT_STATUS[fault.kind];
}

export const titleOf = (status: number): string => TITLES[status] ?? 'Error';

/** RFC 6901: a field's name, or one of its items (`allowedIps[2]`). */
const pointer = (at: string): string => `#/${at.replaceAll(/\[(\d+)\]/g, '/$1').replaceAll('.', '/')}`;

/**
 * @param fault undefined for a bug, whose text is not shown
 * @param headers instead of those of the fault
 */
export function problem(fault: Fault | undefined, requestId: string, headers = fault?.headers): Response {
  const status = fault === undefined ? 500 : statusOf(fault);
  const errors = fault?.issues.map(({ at, line, message, code }) => {
    const [field] = (at ?? '').split(/[.[]/);
    return { field, pointer: at === undefined ? undefined : pointer(at), line, code, detail: message };
  });
  const body = {
    type: 'about:blank',
    title: titleOf(status),
    status,
    detail: fault?.message ?? 'the gateway failed; its log has an entry with this request id',
    ...(fault?.code === undefined ? {} : { code: fault.code }),
    requestId,
    ...(errors === undefined || errors.length === 0 ? {} : { errors }),
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' },
  });
}
