/**
 * Version-aware headers (FHIR R4 http, 3.1.0.4.1 and 3.1.0.1.3; RFC 9110 §13). The gateway rejects a
 * header that it cannot read, because an ignored `If-Match` is a lost update.
 */
import { Fault } from '../../shared/fault.ts';
import type { ShownIf } from '../store/resource-by-id.ts';
import { badParameter } from './controls/faults.ts';

/** The headers of a request, or the elements that replace them in an entry of a bundle. Names are in lower case. */
export interface RequestHeaders {
  get(name: string): string | null;
}

export const etagOf = (version: number): string => `W/"${version}"`;
/** Dates of HTTP have seconds (RFC 9110 §8.8.2). */
export const lastModifiedOf = (instant: string): string => new Date(instant).toUTCString();

const [FIRST_MS, LAST_MS] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];
/** A date of a header for PostgreSQL, limited to the years that FHIR can write. */
const storable = (ms: number): string => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString();

/** Version ids are the numbers from 1; `version` in the database is a 32-bit integer. */
const VERSION = /^[1-9][0-9]{0,8}$/;
const NO_VERSION = -1;

/** The version of a resource that does not exist yet, which `If-None-Match: *` expects. */
export const NO_RESOURCE = 0;

/** The version with this id, in a URL or a tag. An id that the server never sent is a version that never exists. */
export const versionOf = (id: string): number => (VERSION.test(id) ? Number(id) : NO_VERSION);

/** The versions that a write may replace, 0: none exists yet; `any`: the resource must exist; null: no condition. */
export type Expectation = readonly number[] | 'any' | null;

/** The state of the resource that a write requires. */
export interface Precondition {
  readonly expect: Expectation;
  /** An ISO instant after which the resource may not have changed; null: no condition. */
  readonly unmodifiedSince: string | null;
}

const QUOTED = /"([^"]*)"/g;

/** The tags of a list, strong or weak, without quotes; undefined if it is not a list of tags. A comma may be in a tag. */
function entityTags(list: string): string[] | undefined {
  const tags = [...list.matchAll(QUOTED)].map(([, tag = '']) => tag);
  const items = list.replace(QUOTED, '""').split(',');
  // An item may be empty (RFC 9110 §5.6.1.2).
  const isList = items.every((item) => ['', '""', 'W/""'].includes(item.trim()));
  return isList && tags.length > 0 ? tags : undefined;
}

/** @throws Fault `malformed` for anything but a list of entity tags or `*` */
export function ifMatchOf(headers: RequestHeaders): Expectation {
  const header = headers.get('if-match')?.trim();
  if (header === undefined) return null;
  if (header === '*') return 'any';
  const tags = entityTags(header);
  if (tags === undefined) {
    throw badParameter(
      'If-Match',
      'If-Match must be ETags of this server with commas between them, such as W/"3", or *',
    );
  }
  return [...new Set(tags.map(versionOf))];
}

/** True when the client has this version already (RFC 9110 §13.1.2, §13.1.3): 304. */
export function isNotModified(headers: RequestHeaders, version: number, lastUpdated: string): boolean {
  const noneMatch = headers.get('if-none-match')?.trim();
  // A header without entity tags, which fhirpy sends, matches nothing: the client gets the resource, which is always right.
  if (noneMatch !== undefined) return noneMatch === '*' || (entityTags(noneMatch) ?? []).includes(String(version));
  const since = Date.parse(headers.get('if-modified-since') ?? '');
  // A server ignores an invalid date (RFC 9110 §13.1.3).
  return !Number.isNaN(since) && Date.parse(lastModifiedOf(lastUpdated)) <= since;
}

/**
 * The conditions of an update (RFC 9110 §13.1.1, §13.1.2, §13.1.4). `If-Modified-Since` applies to reads
 * only (§13.1.3).
 *
 * @throws Fault `malformed` for a header that is invalid or contradicts another one
 */
export function preconditionOf(headers: RequestHeaders): Precondition {
  refuseNoneExist(headers);
  const expected = ifMatchOf(headers);
  const noneMatch = headers.get('if-none-match')?.trim();
  if (noneMatch !== undefined && noneMatch !== '*') {
    throw badParameter('If-None-Match', 'If-None-Match of a write must be *, for a resource that does not exist yet');
  }
  if (noneMatch !== undefined && expected !== null) {
    throw badParameter('If-None-Match', 'If-Match and If-None-Match exclude each other: send one of them');
  }
  const since = headers.get('if-unmodified-since');
  if (since !== null && Number.isNaN(Date.parse(since))) {
    throw badParameter('If-Unmodified-Since', 'If-Unmodified-Since must be a date, as in Last-Modified');
  }
  return {
    expect: noneMatch === undefined ? expected : [NO_RESOURCE],
    // A server ignores it beside If-Match (RFC 9110 §13.1.4).
    unmodifiedSince: since === null || expected !== null ? null : storable(Date.parse(since)),
  };
}

/**
 * `If-None-Exist` applies to creates only; a client that sends it elsewhere expects a condition.
 *
 * @throws Fault `malformed`
 */
export function refuseNoneExist(headers: RequestHeaders): void {
  if (headers.get('if-none-exist') === null) return;
  throw badParameter(
    'If-None-Exist',
    'If-None-Exist applies to creates: for a conditional update send PUT [type]?[search parameters]',
  );
}

/**
 * A runtime decodes other characters of a header as UTF-8 or as ISO-8859-1, which the client cannot know. An entry of a Bundle may
 * have any character.
 *
 * @throws Fault `malformed` for a condition that is not ASCII (RFC 9110 §5.5)
 */
export function requireAsciiCondition(headers: Headers): void {
  if (/^[ -~]*$/.test(headers.get('if-none-exist') ?? '')) return;
  throw badParameter('If-None-Exist', 'If-None-Exist must be ASCII: escape the bytes of UTF-8, such as %C3%A9');
}

const OF_VERSIONS = ['If-Match', 'If-None-Match', 'If-Unmodified-Since'];

/**
 * A create has no version to compare with: its only condition is `If-None-Exist`.
 *
 * @throws Fault `malformed` for another condition
 */
export function requireNoVersion(headers: RequestHeaders): void {
  for (const name of OF_VERSIONS) {
    if (headers.get(name.toLowerCase()) === null) continue;
    throw badParameter(name, `${name} cannot be used with a create: send the condition as If-None-Exist`);
  }
}

/**
 * @param where the interaction without conditions, for the message
 * @throws Fault `malformed` for the conditions of a write
 */
export function requireNoConditions(headers: RequestHeaders, where: string): void {
  for (const name of [...OF_VERSIONS, 'If-None-Exist']) {
    if (headers.get(name.toLowerCase()) === null) continue;
    throw badParameter(name, `${name} cannot be used with ${where}`);
  }
}

/**
 * The conditions of `requirePreconditions` for the statement that reads: the audit records a resource only where it is shown.
 *
 * @throws Fault `malformed` for an invalid header
 */
export function shownIfOf(headers: RequestHeaders): ShownIf {
  const expected = ifMatchOf(headers);
  const since = Date.parse((expected === null ? headers.get('if-unmodified-since') : null) ?? '');
  return {
    versions: expected === 'any' ? null : expected,
    unmodifiedSince: Number.isNaN(since) ? null : storable(since),
  };
}

/**
 * The conditions of a read beside `If-None-Match` and `If-Modified-Since` (RFC 9110 §13.1.1, §13.1.4).
 *
 * @throws Fault `malformed` for an invalid header, `precondition-failed` where a condition is false
 */
export function requirePreconditions(headers: RequestHeaders, version: number, lastUpdated: string): void {
  refuseNoneExist(headers);
  const { versions, unmodifiedSince } = shownIfOf(headers);
  const isOther = versions !== null && !versions.includes(version);
  const isLater = unmodifiedSince !== null && Date.parse(lastModifiedOf(lastUpdated)) > Date.parse(unmodifiedSince);
  if (!isOther && !isLater) return;
  throw new Fault('precondition-failed', 'the resource has another version than If-Match or If-Unmodified-Since names');
}
