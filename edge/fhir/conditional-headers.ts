/**
 * Version-aware headers (FHIR R4 http, 3.1.0.4.1 and 3.1.0.1.3; RFC 9110 §13). What cannot be read is refused, never
 * ignored: a lost `If-Match` is a lost update.
 */
import { Fault } from '../../shared/fault.ts';

/** The headers of a request, or what stands for them in an entry of a bundle. Names in lower case. */
export interface RequestHeaders {
  get(name: string): string | null;
}

export const etagOf = (version: number): string => `W/"${version}"`;
/** HTTP knows seconds only (RFC 9110 §8.8.2). */
export const lastModifiedOf = (instant: string): string => new Date(instant).toUTCString();

const ENTITY_TAG = /^(?:W\/)?"([^"]*)"$/;
const VERSION = /^[1-9][0-9]{0,8}$/;
/** What no resource ever has: versions begin at 1. A well-formed tag that we never gave matches nothing. */
const NO_VERSION = -1;

/** A version that must be replaced, `any`: one that exists; null: no condition. */
export type Expectation = number | 'any' | null;

/** @throws Fault `malformed` for anything but one entity tag or `*` */
export function ifMatchOf(headers: RequestHeaders): Expectation {
  const header = headers.get('if-match')?.trim();
  if (header === undefined) return null;
  if (header === '*') return 'any';
  const tag = ENTITY_TAG.exec(header)?.[1];
  if (tag === undefined) {
    const message = 'If-Match must be one ETag of this server, such as W/"3", or *';
    throw new Fault('malformed', message, { issues: [{ code: 'value', message, at: 'http.If-Match' }] });
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
