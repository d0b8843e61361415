/** A24 and A37 link two records of one person, or unlink them (HL7 v2.5.1 §3.3.24, §3.3.37; FHIR R4, Patient.link). */
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { ADDED, type Precedence } from '../precedence/precedence.ts';
import { later } from '../precedence/registers.ts';
import { linkTo, newestMerge, newestOf } from './merge-register.ts';
import { link, unlink } from './survivor.ts';

/** @returns false for a statement that is older than the newest one, which counts in any order of arrival */
function isNewest(a: Draft, b: Draft, precedence: Precedence, drafts: Drafts): boolean {
  if (precedence < later(newestOf(a, b, linkTo), newestMerge(a, b))) return false;
  drafts.remember(a, linkTo(b), precedence);
  drafts.remember(b, linkTo(a), precedence);
  return true;
}

/**
 * Links both ways, so that a reader of either record sees the link.
 *
 * @param precedence by EVN-2
 */
export function linkPatients(a: Draft, b: Draft, precedence: Precedence, drafts: Drafts): LinkResult {
  if (a === b) return 'done';
  if (!isNewest(a, b, precedence, drafts)) return 'stale';
  drafts.apply(a, [link('seealso', b)], ADDED);
  drafts.apply(b, [link('seealso', a)], ADDED);
  return 'done';
}

export type LinkResult = 'done' | 'stale' | 'not-linked';

/** A37 removes links, and merges nothing apart: an administrator undoes a merge. */
export function unlinkPatients(a: Draft, b: Draft, precedence: Precedence, drafts: Drafts): LinkResult {
  if (a !== b && !isNewest(a, b, precedence, drafts)) return 'stale';
  const wereLinked = [unlink(a, 'seealso', b, drafts), unlink(b, 'seealso', a, drafts)];
  return wereLinked.includes(true) ? 'done' : 'not-linked';
}
