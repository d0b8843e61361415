/** `If-Match` (RFC 9110 §13.1.1): which versions of a record a change may overwrite. */
import { Fault } from '../../../shared/fault.ts';
import { PRECONDITION_REQUIRED } from '../../http/problem.ts';

/** A strong or a weak ETag: proxies that compress make it weak. */
const TAG = /^(?:W\/)?"(\d{1,9})"$/;

export const etagOf = ({ version }: { readonly version: number }) => ({ ETag: `"${version}"` });

/**
 * Reads the versions that may be overwritten.
 *
 * @returns an empty list for `*`, which is any version
 * @throws Fault 428 without the header, `malformed` if it is not a list of ETags
 */
export function readIfMatch(header: string | undefined): number[] {
  if (header === undefined) {
    throw new Fault('precondition-failed', 'If-Match is missing: send the ETag of the version that you read', {
      code: PRECONDITION_REQUIRED,
    });
  }
  if (header.trim() === '*') return [];
  return header.split(',').map((item) => {
    const [, version] = TAG.exec(item.trim()) ?? [];
    if (version === undefined)
      throw new Fault(
        'malformed',
        'If-Match is not a list of ETags: send the ETag of the version that you read, such as "3"',
      );
    return Number(version);
  });
}

/** @param what the record, such as `the API key` */
export const changedMeanwhile = (what: string, version: number): Fault =>
  new Fault(
    'precondition-failed',
    `${what} was changed in the meantime and is now at version ${version}: read it again`,
  );
