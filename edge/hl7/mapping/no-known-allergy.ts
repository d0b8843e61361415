/**
 * "No known allergies" in AL1 and IAM. A newer known allergy makes it inactive, in any order of arrival. So the patient's
 * precedences include the newest statement of a known allergy of each category.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { fixed } from '../precedence/contribution.ts';
import type { Precedence } from '../precedence/precedence.ts';
import { later } from '../precedence/registers.ts';
import { codeOf, conceptOf } from './datatypes/cwe.ts';
import { first, textOf } from './datatypes/text.ts';
import type { Draft, Drafts } from './drafts.ts';
import { join } from './key.ts';
import { ALLERGEN_CATEGORY } from './tables/concept-maps.ts';

/** All allergies, or those of a category. */
type Scope = 'any' | 'medication' | 'food' | 'environment';
const SCOPES: readonly Scope[] = ['any', 'medication', 'food', 'environment'];

/** Codes of SNOMED CT, and usual local ones. */
const CODES: ReadonlyMap<string, Scope> = new Map([
  ['716186003', 'any'],
  ['160244002', 'any'],
  ['NKA', 'any'],
  ['409137002', 'medication'],
  ['NKDA', 'medication'],
  ['NKMA', 'medication'],
  ['429625007', 'food'],
  ['NKFA', 'food'],
  ['428607008', 'environment'],
  ['NKEA', 'environment'],
]);

const CATEGORY_NAMES: ReadonlyMap<string, Scope> = new Map([
  ['drug', 'medication'],
  ['medication', 'medication'],
  ['medicine', 'medication'],
  ['food', 'food'],
  ['environmental', 'environment'],
]);

/** Texts in the place of an allergen that state no allergy: denied, unknown or not assessed. */
const NO_ALLERGEN = /^(no|nil|none|denies|unknown|unk|not|unable)\b/;

const partsOf = (segment: Segment, components: readonly number[]): string[] =>
  components.flatMap((component) => textOf(first(segment, 3), component)?.trim() ?? []);

/** The texts of the allergen, else its codes: the code `NO` may be nitric oxide. */
function namesOf(segment: Segment): string[] {
  const texts = partsOf(segment, [2, 5, 9]);
  return texts.length > 0 ? texts : partsOf(segment, [1, 4]);
}

/** The scope that AL1-3 or IAM-3 excludes; undefined for an allergen. */
export function excludedBy(segment: Segment): Scope | undefined {
  for (const text of partsOf(segment, [1, 2, 4, 5, 9])) {
    const scope = CODES.get(text.toUpperCase()) ?? scopeOfText(text);
    if (scope !== undefined) return scope;
  }
  return undefined;
}

/** `No known drug allergies`, but not `No known allergy to latex`, which is about one allergen. */
function scopeOfText(text: string): Scope | undefined {
  const parts = text
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, ' ')
    .trim()
    .split(' ');
  const [no, known, ...rest] = parts;
  const allergy = rest.at(-1) ?? '';
  if (no !== 'no' || known !== 'known' || !/^allerg(y|ies)$/.test(allergy)) return undefined;
  const [category, ...more] = rest.slice(0, -1);
  if (category === undefined) return 'any';
  return more.length === 0 ? CATEGORY_NAMES.get(category) : undefined;
}

/** Statements of one scope are one resource, with any code. */
export const exclusionKey = (scope: Scope): string => join('none', scope);

/** The keys of the statements that an allergy may contradict. */
export const contradictedKeys = (segment: Segment): string[] =>
  SCOPES.filter((scope) => isContradicted(scope, categoryOf(segment))).map(exclusionKey);

export const EXCLUSION_KEYS: readonly { readonly type: ResourceType; readonly key: string }[] = SCOPES.map((scope) => ({
  type: 'AllergyIntolerance',
  key: exclusionKey(scope),
}));

/** `''` for an unknown category. */
const categoryOf = (segment: Segment): string =>
  ALLERGEN_CATEGORY.codes.get(codeOf(first(segment, 2))?.toUpperCase() ?? '')?.code ?? '';

/** An allergy of an unknown category may be of any. */
const isContradicted = (scope: Scope, category: string): boolean =>
  scope === 'any' || category === '' || scope === category;

/** IAM-6 and IAM-17 of an allergy that exists no longer, or never did. */
function isPresent(segment: Segment): boolean {
  if (excludedBy(segment) !== undefined) return false;
  if (namesOf(segment).some((name) => NO_ALLERGEN.test(name.toLowerCase()))) return false;
  if (segment.id !== 'IAM') return true;
  const [action, status] = [6, 17].map((field) => codeOf(first(segment, field))?.toUpperCase() ?? '');
  return action !== 'D' && status !== 'I' && status !== 'E';
}

/** The name under which a patient remembers the newest known allergy of a category. */
const PREFIX = 'allergy ';

/** After the statements of a message: remembers its known allergies, and settles the exclusions that they contradict. */
export function settleAllergies(
  said: readonly { readonly segment: Segment; readonly precedence: Precedence }[],
  patient: Draft,
  find: (key: string) => Draft | undefined,
  drafts: Drafts,
): void {
  if (said.length === 0) return;
  for (const { segment, precedence } of said) {
    if (isPresent(segment)) rememberAllergy(patient, `${PREFIX}${categoryOf(segment)}`, precedence, drafts);
  }
  settleExclusions(patient, find, drafts);
}

function rememberAllergy(patient: Draft, name: string, precedence: Precedence, drafts: Drafts): void {
  const known = patient.remembered.registers.get(name)?.precedence ?? '';
  if (precedence > known) drafts.remember(patient, name, precedence);
}

/** A merge brings together the known allergies of one patient and the exclusions of the other. */
export function mergeAllergies(from: Draft, to: Draft, find: (key: string) => Draft | undefined, drafts: Drafts): void {
  for (const [name, { precedence }] of from.remembered.registers) {
    if (name.startsWith(PREFIX)) rememberAllergy(to, name, precedence, drafts);
  }
  settleExclusions(to, find, drafts);
}

function settleExclusions(
  { remembered: { registers } }: Draft,
  find: (key: string) => Draft | undefined,
  drafts: Drafts,
): void {
  const known = [...registers].filter(([name]) => name.startsWith(PREFIX));
  for (const scope of known.length === 0 ? [] : SCOPES) {
    const draft = find(exclusionKey(scope));
    // An entry in error has no clinical status (FHIR R4, ait-2).
    if (draft === undefined || isInError(draft)) continue;
    const newest = known
      .filter(([name]) => isContradicted(scope, name.slice(PREFIX.length)))
      .reduce<Precedence>((last, [, { precedence }]) => later(last, precedence), '');
    if (newest !== '') drafts.apply(draft, [fixed('clinicalStatus', INACTIVE)], newest);
  }
}

const INACTIVE = conceptOf('http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', 'inactive');

const isInError = ({ content }: Draft): boolean =>
  JSON.stringify(content['verificationStatus'] ?? '').includes('"entered-in-error"');
