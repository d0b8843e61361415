/** A24 and A37 link two records of one person, or unlink them (HL7 v2.5.1 §3.3.24, §3.3.37; FHIR R4, Patient.link). */
import { isJsonObject, type Json } from '../../../shared/json.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { ADDED } from '../precedence/precedence.ts';
import { itemsOf, link } from './survivor.ts';

/** Links both ways, so that a reader of either record sees the link. */
export function linkPatients(a: Draft, b: Draft, drafts: Drafts): void {
  if (a === b) return;
  drafts.apply(a, [link('seealso', b)], ADDED);
  drafts.apply(b, [link('seealso', a)], ADDED);
}

/** @returns true if they were linked; a merge is not a link that A37 can remove */
export function unlinkPatients(a: Draft, b: Draft, drafts: Drafts): boolean {
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
  return wereLinked;
}

const isTo = (other: Json | undefined, patient: Draft): boolean =>
  isJsonObject(other) && other['reference'] === `Patient/${patient.id}`;
