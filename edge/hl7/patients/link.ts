/** A24 and A37 link two records of one person, or unlink them (HL7 v2.5.1 §3.3.24, §3.3.37; FHIR R4, Patient.link). */
import { isJsonObject, type Json } from '../../../shared/json.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { ADDED, type Precedence } from '../precedence/precedence.ts';
import { later } from '../precedence/registers.ts';
import { itemsOf, link } from './survivor.ts';

/** The name under which a patient remembers the newest statement about its link to another. */
const linkTo = ({ id }: Draft): string => `seealso ${id}`;

/** @returns false for a statement that is older than the newest one, which counts in any order of arrival */
function isNewest(a: Draft, b: Draft, precedence: Precedence, drafts: Drafts): boolean {
  const newest = later(precedenceOfLink(a, b), precedenceOfLink(b, a));
  if (precedence < newest) return false;
  drafts.remember(a, linkTo(b), precedence);
  drafts.remember(b, linkTo(a), precedence);
  return true;
}

const precedenceOfLink = (from: Draft, to: Draft): Precedence =>
  from.remembered.registers.get(linkTo(to))?.precedence ?? '';

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

/** A merge is not a link that A37 can remove. */
export function unlinkPatients(a: Draft, b: Draft, precedence: Precedence, drafts: Drafts): LinkResult {
  if (a !== b && !isNewest(a, b, precedence, drafts)) return 'stale';
  let wereLinked = false;
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    const links = itemsOf(from.content['link']);
    const kept = links.filter(({ type, other }) => type !== 'seealso' || !isTo(other, to));
    const { link: _link, ...others } = from.content;
    if (kept.length === links.length) continue;
    drafts.rewrite(from, kept.length === 0 ? others : { ...others, link: [...kept] });
    wereLinked = true;
  }
  return wereLinked ? 'done' : 'not-linked';
}

const isTo = (other: Json | undefined, patient: Draft): boolean =>
  isJsonObject(other) && other['reference'] === `Patient/${patient.id}`;
