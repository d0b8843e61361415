/** Calls `/admin/api` of a running gateway with an access token of the staff's OpenID provider. */
import * as z from 'zod';

import { Fault, type FaultKind, type Issue } from '../../../shared/fault.ts';
import { isLoopbackHost } from '../../../shared/ip.ts';
import { parseJson } from '../../../shared/json.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { API_PATH } from '../../admin/api/operation.ts';
import { SITE_HEADER } from '../../admin/staff/bearer-token.ts';
import { FAULT_STATUS } from '../../http/fault-status.ts';
import { baseUrlOf, UsageError } from './program.ts';

/** @param body undefined for GET, otherwise for POST. @throws Fault as the API answers it */
export type AdminApi = (path: string, body?: unknown) => Promise<unknown>;

/** Above the gateway's own limits for a request and its batches. */
const TIMEOUT_MS = 120_000;

const problem = z.object({
  detail: z.string(),
  errors: z
    .array(
      z.object({
        code: z.string().default('invalid'),
        detail: z.string(),
        pointer: z.string().default(''),
        line: z.number().optional(),
      }),
    )
    .default([]),
});

/** The place of an RFC 6901 pointer: `#/apiKeys/0/name` is `apiKeys[0].name`. */
const placeOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((step, depth) => (/^\d+$/.test(step) ? `[${step}]` : `${depth === 0 ? '' : '.'}${step}`))
    .join('');

const isKind = (name: string): name is FaultKind => Object.hasOwn(FAULT_STATUS, name);
const kindOf = (status: number): FaultKind =>
  Object.entries(FAULT_STATUS).flatMap(([name, of]) => (of === status && isKind(name) ? [name] : []))[0] ??
  'unavailable';

function read(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * @param given ADMIN_PUBLIC_BASE_URL of the gateway
 * @param token undefined or empty if the environment has none
 * @param site the id of the site; empty for the only site of the token
 */
export function connectAdminApi(given: string, token: string | undefined, site: string): AdminApi {
  const base = baseUrlOf(given);
  if (base.protocol !== 'https:' && !isLoopbackHost(base.hostname))
    throw new UsageError(`${given} must be https, because the access token is sent there`);
  if (token === undefined || token === '')
    throw new UsageError('ADMIN_TOKEN is needed in the environment: an access token of the OpenID provider');
  if (site !== '' && !isUuid(site)) throw new UsageError(`${site} must be the id of a site, not its name`);
  return async (path, body) => {
    const url = `${base.href}${API_PATH.slice(1)}${path}`;
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(site === '' ? {} : { [SITE_HEADER]: site }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    const request = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
    const answered = await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
      .then(async (response) => ({ response, content: read(await response.text()) }))
      .catch((error: unknown) => {
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
        throw new Fault('unavailable', `${base.origin} did not answer: ${String(cause)}`, { cause: error });
      });
    const { response, content } = answered;
    if (response.ok && content !== undefined) return content;
    const { data } = problem.safeParse(content);
    if (data === undefined)
      throw new Fault('unavailable', `${url} answered ${response.status}: is it ADMIN_PUBLIC_BASE_URL of the gateway?`);
    const issues = data.errors.map(({ code, detail, pointer, line }): Issue => ({
      code,
      message: detail,
      at: placeOf(pointer),
      ...(line === undefined ? {} : { line }),
    }));
    throw new Fault(kindOf(response.status), data.detail, { issues });
  };
}
