/** `If-Match` (RFC 9110 §13.1.1): which versions of a record a change may overwrite. */
import { Fault } from '../../../shared/fault.ts';
import { PRECONDITION_REQUIRED } from '../../http/problem.ts';

/** Strong, and weak because proxies that compress make it so. */
const TAG = /^(?:W\/)?"(\d{1,9})"$/;

export const etagOf = (version: number): string => `"${version}"`;

/**
 * @returns the versions; none for `*`, which is any
 * @throws Fault 428 without the header, `malformed` for one that cannot be read
 */
export function readIfMatch(header: string | undefined): number[] {
  if (header === undefined) {
    throw new Fault('precondition-failed', 'send If-Match with the ETag of what you have read', {
      code: PRECONDITION_REQUIRED,
    });
  }
  if (header.trim() === '*') return [];
  return header.split(',').map((item) => {
    const [, version] = TAG.exec(item.trim()) ?? [];
    if (version === undefined) throw new Fault('malformed', 'If-Match is not an ETag of this resource');
    return Number(version);
  });
}

/** @param what `the key was` */
export const changedMeanwhile = (what: string, version: number): Fault =>
  new Fault('precondition-failed', `${what} changed meanwhile: it is now at version ${version}`);
