/**
 * Version-aware headers (FHIR R4 http, 3.1.0.4.1 and 3.1.0.1.3; RFC 9110 §13). What cannot be read is refused, never
 * ignored: a lost `If-Match` is a lost update.
 */
import { Fault } from '../../shared/fault.ts';
import type { ShownIf } from '../store/resource-by-id.ts';

/** The headers of a request, or what stands for them in an entry of a bundle. Names in lower case. */
export interface RequestHeaders {
  get(name: string): string | null;
}

export const etagOf = (version: number): string => `W/"${version}"`;
/** HTTP knows seconds only (RFC 9110 §8.8.2). */
export const lastModifiedOf = (instant: string): string => new Date(instant).toUTCString();

const [FIRST_MS, LAST_MS] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];
/** A date in a header as PostgreSQL takes it; in place of one that FHIR cannot write, the nearest that it can. */
const storable = (ms: number): string => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString();

const ENTITY_TAG = /^(?:W\/)?"([^"]*)"$/;
const VERSION = /^[1-9][0-9]{0,8}$/;
/** What no resource ever has: versions begin at 1. A well-formed tag that we never gave matches nothing. */
const NO_VERSION = -1;

/** The version of what is not there yet: what `If-None-Match: *` expects of a write. */
export const NOT_THERE = 0;

/** A version that must be replaced, 0: none may exist; `any`: one that exists; null: no condition. */
export type Expectation = number | 'any' | null;

/** What the resource has to be like for a write to be done. */
export interface Precondition {
  readonly expect: Expectation;
  /** An ISO instant after which the resource may not have changed; null: no condition. */
  readonly unmodifiedSince: string | null;
}

function badHeader(name: string, message: string): Fault {
  return new Fault('malformed', message, { issues: [{ code: 'value', message, at: `http.${name}` }] });
}

/** @throws Fault `malformed` for anything but one entity tag or `*` */
export function ifMatchOf(headers: RequestHeaders): Expectation {
  const header = headers.get('if-match')?.trim();
  if (header === undefined) return null;
  if (header === '*') return 'any';
  const tag = ENTITY_TAG.exec(header)?.[1];
  if (tag === undefined) {
    throw badHeader('If-Match', 'If-Match must be one ETag of this server, such as W/"3", or *');
  }
  return VERSION.test(tag) ? Number(tag) : NO_VERSION;
}

/** True when the client has this version already (RFC 9110 §13.1.2, §13.1.3): 304. */
export function isNotModified(headers: RequestHeaders, version: number, lastUpdated: string): boolean {
  const noneMatch = headers.get('if-none-match');
  if (noneMatch !== null) {
    const tags = noneMatch.split(',').map((tag) => tag.trim());
    return tags.some((tag) => tag === '*' || ENTITY_TAG.exec(tag)?.[1] === String(version));
  }
  const since = Date.parse(headers.get('if-modified-since') ?? '');
  // A date that cannot be read is no condition (RFC 9110 §13.1.3).
  return !Number.isNaN(since) && Date.parse(lastModifiedOf(lastUpdated)) <= since;
}

/**
 * The conditions of an update (RFC 9110 §13.1.1, §13.1.2, §13.1.4). `If-Modified-Since` is none: it is of reads alone
 * (§13.1.3).
 *
 * @throws Fault `malformed` for what cannot be read or cannot hold together
 */
export function preconditionOf(headers: RequestHeaders): Precondition {
  refuseNoneExist(headers);
  const expected = ifMatchOf(headers);
  const noneMatch = headers.get('if-none-match')?.trim();
  if (noneMatch !== undefined && noneMatch !== '*') {
    throw badHeader('If-None-Match', 'If-None-Match of a write must be *: nothing may be there yet');
  }
  if (noneMatch !== undefined && expected !== null) {
    throw badHeader('If-None-Match', 'If-Match and If-None-Match exclude each other: send one of them');
  }
  const since = headers.get('if-unmodified-since');
  if (since !== null && Number.isNaN(Date.parse(since))) {
    throw badHeader('If-Unmodified-Since', 'If-Unmodified-Since must be a date, as in Last-Modified');
  }
  return {
    expect: noneMatch === undefined ? expected : NOT_THERE,
    // Beside If-Match it says nothing (RFC 9110 §13.1.4).
    unmodifiedSince: since === null || expected !== null ? null : storable(Date.parse(since)),
  };
}

/**
 * Whatever is no create has no such condition, and who sends it there expects one.
 *
 * @throws Fault `malformed`
 */
export function refuseNoneExist(headers: RequestHeaders): void {
  if (headers.get('if-none-exist') === null) return;
  throw badHeader(
    'If-None-Exist',
    'If-None-Exist is of a create: a conditional update is PUT [type]?[search parameters]',
  );
}

const OF_VERSIONS = ['If-Match', 'If-None-Match', 'If-Unmodified-Since'];

/**
 * A create has no version to compare with: its one condition is `If-None-Exist`.
 *
 * @throws Fault `malformed` where it has another
 */
export function requireNoVersion(headers: RequestHeaders): void {
  for (const name of OF_VERSIONS) {
    if (headers.get(name.toLowerCase()) === null) continue;
    throw badHeader(name, `${name} cannot be used with a create: send the condition as If-None-Exist`);
  }
}

/**
 * @param where what has no conditions, for the message
 * @throws Fault `malformed` for the conditions of a write where nothing is compared with them
 */
export function requireNoConditions(headers: RequestHeaders, where: string): void {
  for (const name of [...OF_VERSIONS, 'If-None-Exist']) {
    if (headers.get(name.toLowerCase()) === null) continue;
    throw badHeader(name, `${name} cannot be used with ${where}`);
  }
}

/**
 * The same as `requireStillSo` for the statement that reads, which notes for the audit what will be shown.
 *
 * @throws Fault `malformed` for what cannot be read
 */
export function shownIfOf(headers: RequestHeaders): ShownIf {
  const expected = ifMatchOf(headers);
  const since = Date.parse((expected === null ? headers.get('if-unmodified-since') : null) ?? '');
  return {
    version: typeof expected === 'number' ? expected : null,
    unmodifiedSince: Number.isNaN(since) ? null : storable(since),
  };
}

/**
 * The conditions of a read beside `If-None-Match` and `If-Modified-Since` (RFC 9110 §13.1.1, §13.1.4).
 *
 * @throws Fault `malformed` for what cannot be read, `precondition-failed` for what does not hold
 */
export function requireStillSo(headers: RequestHeaders, version: number, lastUpdated: string): void {
  refuseNoneExist(headers);
  const expected = ifMatchOf(headers);
  const since = headers.get('if-unmodified-since');
  const seconds = since === null || expected !== null ? Number.NaN : Date.parse(since);
  const isOther = typeof expected === 'number' && expected !== version;
  const isLater = !Number.isNaN(seconds) && Date.parse(lastModifiedOf(lastUpdated)) > seconds;
  if (!isOther && !isLater) return;
  throw new Fault(
    'precondition-failed',
    'the resource is at another version than If-Match or If-Unmodified-Since names',
  );
}
