/**
 * Walks a resource along the table: JSON types, cardinality, unknown elements, choices, primitives with their siblings,
 * bindings, references and invariants (FHIR R4, JSON §2.6.2). It notes every fault and never throws.
 */
import { isJsonObject, objectsOf, type Json, type JsonObject } from '../../../shared/json.ts';
import {
  ELEMENT_TYPE,
  isDefined,
  RESOURCES,
  resourceType,
  type Binding,
  type Element,
  type Type,
} from './definitions.ts';
import type { Findings } from './findings.ts';
import type { Scope } from './invariants.ts';
import { textOf } from './primitives.ts';
import { checkReference } from './references.ts';
import { walkUndefined } from './walk-undefined.ts';

/** The state of one validation. */
export interface Walk extends Scope {
  readonly findings: Findings;
  readonly localReferences: Set<string>;
  /** Ids of the contained resources met so far. */
  readonly containedIds: Set<string>;
  readonly withinContained: boolean;
}

/** RFC 6838 §4.2 names, with the parameters of RFC 2045 §5.1: the one required binding that cannot be listed. */
const MIME_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+*-]+\s*(?:;.*)?$/;
/** A list of allowed codes up to this long is part of the message. */
const MAX_CODES_SHOWN = 16;
const LOCAL_TYPES: ReadonlySet<string> = new Set(['uri', 'url', 'canonical']);

function isBound({ codes }: Binding, code: string): boolean {
  return codes.size === 0 ? MIME_TYPE.test(code) : codes.has(code);
}

function addUnbound({ findings }: Walk, { valueSet, codes }: Binding): void {
  const shown = codes.size > 0 && codes.size <= MAX_CODES_SHOWN ? `: ${[...codes].join(', ')}` : '';
  findings.add('code-invalid', `must be of the required value set ${valueSet}${shown}`);
}

/** A concept is bound when one of its codings is in the set; a text alone is not (FHIR R4, Terminologies, binding strengths). */
function checkConcept(walk: Walk, value: JsonObject, binding: Binding): void {
  const { coding, text, extension } = value;
  if (coding === undefined && text === undefined && extension !== undefined) return;
  const listed = objectsOf(coding);
  const inSet = listed.some(({ system, code }) => {
    return typeof system === 'string' && typeof code === 'string' && isBound(binding, `${system}|${code}`);
  });
  if (!inSet) addUnbound(walk, binding);
}

function checkPrimitive(walk: Walk, { type, name, binding }: Element, value: Json): void {
  const { primitive } = type;
  if (primitive === undefined) return;
  const text = textOf(value, primitive.json);
  if (text === undefined) return walk.findings.add('structure', `must be a JSON ${primitive.json}`);
  const wrong = primitive.check(text);
  if (wrong !== undefined) return walk.findings.add('value', wrong);
  if (binding !== undefined && !isBound(binding, text)) addUnbound(walk, binding);
  if (text.charCodeAt(0) === 0x23 && (name === 'reference' || LOCAL_TYPES.has(type.name)))
    walk.localReferences.add(text);
}

/** One primitive: a value, the id and extensions of its sibling, or both. */
function walkPrimitive(walk: Walk, element: Element, value: Json | undefined, sibling: Json | undefined): void {
  const { findings } = walk;
  if (value !== undefined) checkPrimitive(walk, element, value);
  if (sibling === undefined) {
    if (value === undefined) findings.add('structure', 'null needs an extension in the sibling array');
    return;
  }
  if (!isJsonObject(sibling)) return findings.add('structure', `_${element.member} must be a JSON object`);
  const names = Object.keys(sibling);
  if (names.length === 0) return findings.add('structure', `_${element.member} must not be empty`);
  if (value === undefined && names.every((name) => name === 'id')) {
    findings.add('invariant', 'an element needs a value or an extension beside id (ele-1)');
  }
  walkMembers(walk, sibling, ELEMENT_TYPE);
}

function walkPrimitives(walk: Walk, element: Element, value: Json | undefined, sibling: Json | undefined): void {
  const { findings } = walk;
  if (!element.many) {
    if (Array.isArray(value) || Array.isArray(sibling)) return findings.add('structure', 'must not be an array');
    return walkPrimitive(walk, element, value, sibling);
  }
  if (!isOptionalArray(value) || !isOptionalArray(sibling)) return findings.add('structure', 'must be an array');
  if (value?.length === 0 || sibling?.length === 0) return findings.add('structure', 'must not be an empty array');
  const count = Math.max(value?.length ?? 0, sibling?.length ?? 0);
  for (let i = 0; i < count; i += 1) {
    if (findings.enter(i)) walkPrimitive(walk, element, value?.[i] ?? undefined, sibling?.[i] ?? undefined);
    findings.leave();
  }
}

function isOptionalArray(value: Json | undefined): value is Json[] | undefined {
  return value === undefined || Array.isArray(value);
}

function walkComplex(walk: Walk, element: Element, value: Json): void {
  const { findings } = walk;
  if (!element.many) {
    if (Array.isArray(value)) return findings.add('structure', 'must not be an array');
    return walkOne(walk, element, value);
  }
  if (!Array.isArray(value)) return findings.add('structure', 'must be an array');
  if (value.length === 0) return findings.add('structure', 'must not be an empty array');
  for (const [i, item] of value.entries()) {
    if (findings.enter(i)) walkOne(walk, element, item);
    findings.leave();
  }
}

function walkOne(walk: Walk, { type, binding, targets }: Element, value: Json): void {
  if (!isJsonObject(value)) return walk.findings.add('structure', 'must be a JSON object');
  if (type.name === 'Resource') return walkContained(walk, value);
  walkObject(walk, value, type);
  if (binding !== undefined) checkConcept(walk, value, binding);
  if (type.name !== 'Reference') return;
  const fault = checkReference(value, targets, walk.contained);
  if (fault !== undefined) walk.findings.add('value', fault.message, fault.element);
}

function walkContained(outer: Walk, resource: JsonObject): void {
  const { findings } = outer;
  const { id } = resource;
  const name = resource['resourceType'];
  if (typeof name !== 'string' || !RESOURCES.has(name)) {
    return findings.add('structure', 'must have a resourceType of R4');
  }
  if (outer.withinContained) return;
  if (id === undefined) findings.add('required', 'is required in a contained resource', 'id');
  // `#id` must name one resource, so an id must be unique.
  if (typeof id === 'string' && outer.containedIds.has(id))
    findings.add('value', 'must be unique in the resource', 'id');
  if (typeof id === 'string') outer.containedIds.add(id);
  walkObject({ ...outer, withinContained: true }, resource, resourceType(name));
}

/** Walks an object of a known type: its members, what it must have, its invariants. */
export function walkObject(walk: Walk, object: JsonObject, type: Type): void {
  const { findings } = walk;
  if (!walkMembers(walk, object, type)) return findings.add('structure', 'must not be an empty object');
  for (const { name, members } of type.required) {
    if (members.every((member) => object[member] === undefined)) findings.add('required', 'is required', name);
  }
  for (const { id, message, holds } of type.invariants) {
    const result = holds(object, walk);
    if (result === true) continue;
    if (result === false) findings.add('invariant', `${message} (${id})`);
    else for (const below of result) findings.add('invariant', `${message} (${id})`, below);
  }
}

const stepOf = (element: Element): string | Element => (element.choice ? element : element.name);

/** False when there is no member. */
function walkMembers(walk: Walk, object: JsonObject, type: Type): boolean {
  const { findings } = walk;
  let chosen: Element[] | undefined;
  let isEmpty = true;
  for (const member in object) {
    const value = object[member];
    if (value === undefined) continue;
    isEmpty = false;
    const element = type.members.get(member);
    if (element === undefined) {
      walkUnknown(walk, type, member, value);
      continue;
    }
    if (element.choice) {
      chosen ??= [];
      const other = chosen.find(({ name }) => name === element.name);
      if (other === undefined) chosen.push(element);
      else if (other !== element)
        findings.add('structure', `only one of ${other.member} and ${element.member} is allowed`, element.name);
    }
    if (findings.enter(stepOf(element))) walkMember(walk, object, element, member, value);
    findings.leave();
  }
  return !isEmpty;
}

function walkMember(walk: Walk, object: JsonObject, element: Element, member: string, value: Json): void {
  if (value === null) return walk.findings.add('structure', `${member} must not be null`);
  if (element.type.primitive === undefined) return walkComplex(walk, element, value);
  if (member === element.member) return walkPrimitives(walk, element, value, object[element.sibling] ?? undefined);
  // Beside a value the sibling was seen with it.
  if ((object[element.member] ?? undefined) === undefined) walkPrimitives(walk, element, undefined, value);
}

function walkUnknown(walk: Walk, type: Type, member: string, value: Json): void {
  const { findings } = walk;
  // Checked before the walk; only resources have implicitRules.
  if (member === 'resourceType' && type.members.has('implicitRules')) return;
  const complex = member.startsWith('_') ? type.members.get(member.slice(1)) : undefined;
  // FHIRPath has only the element; `_name` is of JSON.
  if (findings.enter(complex === undefined ? member : stepOf(complex))) {
    if (!isDefined(type)) walkUndefined(findings, walk.localReferences, value);
    else if (complex !== undefined) {
      const message = `${member} is not allowed, because ${complex.type.name} is not a primitive type: put id and extension into the element`;
      findings.add('structure', message);
    } else {
      const choice = [...type.members.values()].find(({ name, choice }) => choice && member.startsWith(name));
      findings.add(
        'structure',
        choice === undefined
          ? `${type.name} has no such element`
          : `${type.name}.${choice.name}[x] is not of this type`,
      );
    }
  }
  findings.leave();
}
