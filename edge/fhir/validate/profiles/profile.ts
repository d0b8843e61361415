/**
 * Checks a resource against the rules of a profile (FHIR R4 profiling, 5.1.0). A profile is a text: the type, then a rule a line. The
 * first line may name a profile whose rules it includes, `<us-core-vital-signs`. A rule is a path, then marks:
 *
 * `0..1`, or `2..*`, or `1` for `1..1`, says how many elements each parent has.
 *
 * `=text` is the value. `{a,b}` are the allowed codes. `~system|code` is a coding that must be present.
 *
 * `>Patient` are the types of resource for a reference. `:Quantity,string` are the types of a choice.
 *
 * `#key` is an invariant of `invariants.ts`.
 *
 * `name[system|code]` are the elements with one of these codings, for a component in its `code`; `extension[url]` those with the
 * URL. A system is a name of `SYSTEMS`.
 */
import type { Issue } from '../../../../shared/fault.ts';
import { isJsonObject, type Json, type JsonObject, objectsOf } from '../../../../shared/json.ts';
import { type Element, resourceType, type Type, typeNamed } from '../definitions.ts';
import { createFindings, type Findings } from '../findings.ts';
import { checkReference, containedTypes } from '../references.ts';
import { PROFILE_INVARIANTS, type ProfileInvariant } from './invariants.ts';
import { EXTENSIONS, PROFILES, SYSTEMS, US_CORE, US_CORE_VERSION } from './us-core.ts';

interface Coding {
  /** Undefined: a plain code. */
  readonly system: string | undefined;
  readonly code: string;
}

interface Step {
  readonly name: string;
  readonly codings: readonly Coding[];
  /** The URL of an extension. */
  readonly url: string | undefined;
  /** The text in brackets. */
  readonly slice: string | undefined;
}

interface Rule {
  readonly path: readonly Step[];
  readonly min: number;
  readonly max: number;
  readonly fixed: string | undefined;
  readonly pattern: Coding | undefined;
  readonly codes: readonly Coding[] | undefined;
  readonly targets: ReadonlySet<string> | undefined;
  readonly types: readonly string[] | undefined;
  readonly invariants: readonly ProfileInvariant[];
}

interface Profile {
  readonly type: string;
  readonly rules: readonly Rule[];
}

const read = new Map<string, Profile>();

function codingOf(text: string): Coding {
  const bar = text.indexOf('|');
  return { system: bar < 0 ? undefined : SYSTEMS[text.slice(0, bar)], code: text.slice(bar + 1) };
}

const urlOf = (name: string): string => (name.startsWith('us-core-') ? US_CORE + name : name);

/** A step of a path; a URL in brackets may have dots. */
const STEP = /(\w+)(?:\[([^[\]]+)\])?/g;

function stepsOf(path: string): Step[] {
  return [...path.matchAll(STEP)].map(([, name = '', slice]) => {
    const isUrl = name === 'extension' && slice !== undefined;
    const codings = isUrl || slice === undefined ? [] : slice.split(',').map(codingOf);
    return { name, slice, codings, url: isUrl ? urlOf(slice) : undefined };
  });
}

function invariantNamed(key: string): ProfileInvariant {
  const invariant = PROFILE_INVARIANTS[key];
  if (invariant === undefined) throw new RangeError(`no invariant ${key}`);
  return invariant;
}

function ruleOf(path: string, marks: readonly string[]): Rule {
  const marked = (sign: string): string | undefined => marks.find((mark) => mark.startsWith(sign))?.slice(1);
  const range = marks.find((mark) => /^\d/.test(mark)) ?? '0..*';
  const [min = '', max = min] = range.split('..');
  const pattern = marked('~');
  return {
    path: stepsOf(path),
    min: Number(min),
    max: max === '*' ? Infinity : Number(max),
    fixed: marked('='),
    pattern: pattern === undefined ? undefined : codingOf(pattern),
    codes: marked('{')?.slice(0, -1).split(',').map(codingOf),
    targets: marked('>') === undefined ? undefined : new Set(marked('>')?.split(',')),
    types: marked(':')?.split(','),
    invariants: marks.filter((mark) => mark.startsWith('#')).map((mark) => invariantNamed(mark.slice(1))),
  };
}

function profileOf(text: string): Profile {
  const known = read.get(text);
  if (known !== undefined) return known;
  const [head = '', ...lines] = text.split('\n');
  const [type = '', ...marks] = head.split(' ');
  const base = marks.find((mark) => mark.startsWith('<'))?.slice(1);
  const inherited = base === undefined ? [] : profileOf(PROFILES[base] ?? '').rules;
  const own = lines.map((line) => {
    const [path = '', ...rest] = line.split(' ');
    return ruleOf(path, rest);
  });
  const profile = { type, rules: [...inherited, ruleOf('', marks), ...own] };
  read.set(text, profile);
  return profile;
}

const isSame = ({ system, code }: Coding, coding: JsonObject): boolean =>
  coding['code'] === code && (system === undefined || coding['system'] === system);

/** The codings of a CodeableConcept, of a Coding, or of the `code` of a component. */
function codingsOf(item: JsonObject): readonly JsonObject[] {
  if (typeof item['code'] === 'string') return [item];
  return objectsOf(isJsonObject(item['code']) ? item['code']['coding'] : item['coding']);
}

function isIn({ codings, url }: Step, item: Json | undefined): boolean {
  if (url !== undefined) return isJsonObject(item) && item['url'] === url;
  if (codings.length === 0) return true;
  return isJsonObject(item) && codingsOf(item).some((coding) => codings.some((one) => isSame(one, coding)));
}

/** One element, or one item of a list. */
interface Item {
  readonly element: Element;
  readonly index: number | undefined;
  /** Undefined: a primitive that has extensions only. */
  readonly value: Json | undefined;
}

/** The elements of a name and slice. An element exists if it has a value or, if primitive, an extension. */
function itemsOf(object: JsonObject, type: Type, step: Step): Item[] {
  const items: Item[] = [];
  for (const [member, value] of Object.entries(object)) {
    const element = type.members.get(member);
    if (element?.name !== step.name || value === undefined) continue;
    const isSibling = member !== element.member;
    if (isSibling && object[element.member] !== undefined) continue;
    const list = Array.isArray(value) ? value : [value];
    for (const [n, item] of list.entries()) {
      const index = Array.isArray(value) ? n : undefined;
      if (isIn(step, item)) items.push({ element, index, value: isSibling ? undefined : item });
    }
  }
  return items;
}

interface Check {
  readonly findings: Findings;
  readonly contained: ReadonlyMap<string, string>;
  /** The last part of the profile's URL, for messages. */
  readonly name: string;
}

/** @param inside has what is checked there as its place */
function within(findings: Findings, { element, index }: Item, inside: () => void): void {
  if (findings.enter(element.choice ? element : element.name)) {
    if (index === undefined) inside();
    else {
      if (findings.enter(index)) inside();
      findings.leave();
    }
  }
  findings.leave();
}

const shown = ({ system, code }: Coding): string => (system === undefined ? code : `${system}|${code}`);

/** The element and its slice, as a message names it. */
const named = ({ name, codings, url }: Step): string => {
  if (url !== undefined) return `extension with the URL ${url}`;
  return codings.length === 0 ? name : `${name} with the coding ${codings.map(shown).join(' or ')}`;
};

function checkCount({ findings, name }: Check, step: Step, { min, max }: Rule, count: number): void {
  if (count < min) {
    const needed = min === 1 ? 'is required' : `must be present ${min} times or more`;
    const message = step.slice === undefined ? `${needed} by ${name}` : `${named(step)} ${needed} by ${name}`;
    findings.add('required', message, step.name);
  }
  if (count > max) {
    const allowed = max === 0 ? 'must not be present' : `may be present ${max === 1 ? 'once' : `${max} times`} only`;
    findings.add('structure', `${named(step)} ${allowed} in ${name}`, step.name);
  }
}

function isAllowed(codes: readonly Coding[], value: Json): boolean {
  if (typeof value === 'string') return codes.some(({ code }) => code === value);
  return isJsonObject(value) && codingsOf(value).some((coding) => codes.some((one) => isSame(one, coding)));
}

function checkItem({ findings, contained, name }: Check, rule: Rule, { element, value }: Item): void {
  const { fixed, pattern, codes, targets, types, invariants } = rule;
  if (types?.includes(element.type.name) === false)
    findings.add('structure', `must be ${types.join(' or ')} in ${name}`);
  if (value === undefined) return;
  if (fixed !== undefined && value !== fixed) findings.add('value', `must be ${fixed} in ${name}`);
  if (pattern !== undefined && !isAllowed([pattern], value))
    findings.add('value', `must have the coding ${shown(pattern)} in ${name}`);
  if (codes !== undefined && !isAllowed(codes, value))
    findings.add('code-invalid', `must be ${codes.map(shown).join(' or ')} in ${name}`);
  if (targets !== undefined && isJsonObject(value)) {
    const fault = checkReference(value, targets, contained);
    if (fault !== undefined) findings.add('value', `${fault.message} in ${name}`, fault.element);
  }
  for (const { id, message, holds } of invariants)
    if (!holds(value)) findings.add('invariant', `${message} (${id} of ${name})`);
}

function checkRule(check: Check, rule: Rule, object: JsonObject, type: Type, depth: number): void {
  const step = rule.path[depth];
  if (step === undefined) return;
  const items = itemsOf(object, type, step);
  const isLast = depth === rule.path.length - 1;
  if (isLast) checkCount(check, step, rule, items.length);
  for (const item of items) {
    const { value } = item;
    within(check.findings, item, () => {
      if (isLast) checkItem(check, rule, item);
      else if (isJsonObject(value)) checkRule(check, rule, value, item.element.type, depth + 1);
    });
  }
}

/** An object against the rules of a profile of its type. */
function checkProfile(check: Check, text: string, object: JsonObject, type: Type): void {
  for (const rule of profileOf(text).rules) {
    if (rule.path.length > 0) checkRule(check, rule, object, type, 0);
    else
      for (const { id, message, holds } of rule.invariants)
        if (!holds(object)) check.findings.add('invariant', `${message} (${id} of ${check.name})`);
  }
}

/** The last part of the URL of a known extension. */
function extensionOf(object: JsonObject): string | undefined {
  const { url } = object;
  if (typeof url !== 'string' || !url.startsWith(US_CORE)) return undefined;
  const name = url.slice(US_CORE.length);
  return Object.hasOwn(EXTENSIONS, name) ? name : undefined;
}

/** US Core's extensions of the resource itself, by their definitions. All are extensions of Patient. */
function checkExtensions(check: Check, resource: JsonObject, type: Type): void {
  const step = { name: 'extension', codings: [], url: undefined, slice: undefined };
  for (const item of itemsOf(resource, type, step)) {
    const { value } = item;
    const name = isJsonObject(value) ? extensionOf(value) : undefined;
    if (!isJsonObject(value) || name === undefined) continue;
    within(check.findings, item, () => {
      if (type.name !== 'Patient') check.findings.add('extension', `${name} is an extension of Patient`);
      checkProfile({ ...check, name }, EXTENSIONS[name] ?? '', value, typeNamed('Extension'));
    });
  }
}

/** The profiles of a type, as their URLs. */
export function profilesOf(type: string): string[] {
  return Object.entries(PROFILES).flatMap(([name, text]) => (profileOf(text).type === type ? [US_CORE + name] : []));
}

/**
 * The last part of the URL of a known profile.
 *
 * @param canonical the URL, with or without `|6.1.0`; another version is another profile
 */
export function profileNamed(canonical: Json): string | undefined {
  if (typeof canonical !== 'string' || !canonical.startsWith(US_CORE)) return undefined;
  const [name = '', version] = canonical.slice(US_CORE.length).split('|');
  if (version !== undefined && version !== US_CORE_VERSION) return undefined;
  return Object.hasOwn(PROFILES, name) ? name : undefined;
}

/** The type of resource that a profile is about. */
export const typeOfProfile = (name: string): string => profileOf(PROFILES[name] ?? '').type;

/** The last parts of the URLs of the known profiles in `meta.profile`. */
export function claimedProfiles({ meta }: JsonObject): readonly string[] {
  const claimed = isJsonObject(meta) && Array.isArray(meta['profile']) ? meta['profile'] : [];
  return [...new Set(claimed.flatMap((canonical) => profileNamed(canonical) ?? []))];
}

/**
 * @param names the last parts of the profiles' URLs
 * @param resource a resource of a supported type, of any shape
 * @returns the faults of the resource in these profiles, and in the extensions of US Core that it has; at most 100
 */
export function profileFaults(names: readonly string[], resource: JsonObject): readonly Issue[] {
  const { resourceType: own } = resource;
  if (typeof own !== 'string') return [];
  const type = resourceType(own);
  const findings = createFindings(own);
  const contained = containedTypes(resource['contained']);
  for (const name of names) {
    if (typeOfProfile(name) === own) checkProfile({ findings, contained, name }, PROFILES[name] ?? '', resource, type);
    else findings.add('value', `${US_CORE}${name} is a profile of ${typeOfProfile(name)}`, 'meta.profile');
  }
  checkExtensions({ findings, contained, name: '' }, resource, type);
  return findings.issues;
}
