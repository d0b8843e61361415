/**
 * The seven types and what they are made of as JSON Schemas, from the very table that the validator walks. A schema says less
 * than the validator: invariants, references and open codes are not in it, so that what is valid here may still be refused,
 * and nothing that is accepted is invalid. Circles are cut, so that a reader that unfolds all of it comes to an end.
 */
import { isResourceType, RESOURCE_TYPES, type ResourceType } from '../../shared/resource-type.ts';
import { type Element, resourceType, type Type } from '../fhir/validate/definitions.ts';
import { PRIMITIVES } from '../fhir/validate/primitives.ts';
import { EXAMPLES } from './fhir-examples.ts';
import { ref, type Schema } from './model.ts';

/** Of longer lists of codes only the name is told. */
const MAX_CODES = 40;
/** What unfolds into everything, or into itself. */
const OPAQUE: Readonly<Record<string, Schema>> = {
  Extension: {
    type: 'object',
    description: 'url and one value[x], or extensions.',
    required: ['url'],
    properties: { url: { type: 'string' } },
  },
  Resource: {
    type: 'object',
    description: 'A resource that is contained.',
    required: ['resourceType'],
    properties: { resourceType: { type: 'string' } },
  },
  Narrative: {
    type: 'object',
    required: ['status', 'div'],
    properties: {
      status: { type: 'string', enum: ['generated', 'extensions', 'additional', 'empty'] },
      div: { type: 'string', description: 'XHTML.' },
    },
  },
};
/** `Reference.identifier.assigner` is a Reference again. */
const CUT = new Set(['Identifier.assigner']);
/** Every element may have these; told once, in the description of the resources. */
const EVERYWHERE = new Set(['id', 'extension', 'modifierExtension']);

function primitiveSchema(name: string): Schema {
  const { json, format, range } = PRIMITIVES[name] ?? { json: 'string' as const };
  if (json === 'boolean') return { type: 'boolean' };
  if (range !== undefined) return { type: 'integer', minimum: range.from, maximum: range.to };
  if (json === 'number') return { type: 'number' };
  return { type: 'string', ...(format === undefined ? {} : { pattern: format.source }) };
}

function valueOf({ type, binding }: Element): Schema {
  if (type.primitive === undefined || binding === undefined) return ref(type.name);
  const codes = [...binding.codes];
  // A value set without codes here is one that a grammar defines (media types).
  return codes.length === 0 || codes.length > MAX_CODES || codes.some((code) => code.includes('|'))
    ? { type: 'string', description: `Of the value set ${binding.valueSet}.` }
    : { type: 'string', enum: codes };
}

/** What a schema has no words for. */
function refusalReason({ name, choice, type, binding, targets }: Element): string {
  const told = [
    choice ? `One of ${name}[x].` : '',
    binding !== undefined && type.primitive === undefined ? `Codes of ${binding.valueSet}.` : '',
    targets === undefined ? '' : `To ${[...targets].join(', ')}.`,
  ];
  return told.filter((sentence) => sentence !== '').join(' ');
}

function memberSchema(element: Element): Schema {
  const value = valueOf(element);
  const description = refusalReason(element);
  const schema = element.many ? { type: 'array', items: value } : value;
  return description === '' ? schema : { ...schema, description };
}

/** The elements of a type; a primitive's sibling (`_birthDate`) is told of in words. */
function elementsOf(type: Type): Element[] {
  const left = (element: Element) =>
    CUT.has(`${type.name}.${element.name}`) || (!isResourceType(type.name) && EVERYWHERE.has(element.name));
  return [...type.members].flatMap(([member, element]) =>
    member === element.member && !left(element) ? [element] : [],
  );
}

interface Members {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

function membersOf(type: Type): Members {
  const elements = elementsOf(type);
  const properties = Object.fromEntries(elements.map((element) => [element.member, memberSchema(element)]));
  // Of a choice that is required any member will do.
  return { properties, required: type.required.flatMap(({ name }) => (name in properties ? [name] : [])) };
}

const TOLD =
  'Every element may have `id` and `extension`; those of a primitive stand in a member of its name with `_` before it. ' +
  'What else R4 asks (invariants, codes of systems) is checked too: `$validate` tells.';

const resourceSchema = (name: ResourceType, { properties, required }: Members): Schema => ({
  type: 'object',
  description: `R4 ${name}. ${TOLD}`,
  properties: { resourceType: { const: name }, ...properties },
  required: ['resourceType', ...required],
  examples: [EXAMPLES[name]],
});

function schemaOf(type: Type): Schema {
  if (type.primitive !== undefined) return primitiveSchema(type.name);
  const members = membersOf(type);
  if (isResourceType(type.name)) return resourceSchema(type.name, members);
  const { properties, required } = members;
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

/** @returns a schema for each of the seven types, and for each datatype and primitive that they reach, by name */
export function fhirSchemas(): Readonly<Record<string, Schema>> {
  const schemas: Record<string, Schema> = { ...OPAQUE };
  const add = (type: Type): void => {
    if (type.name in schemas) return;
    schemas[type.name] = schemaOf(type);
    for (const element of elementsOf(type)) add(element.type);
  };
  for (const type of RESOURCE_TYPES) add(resourceType(type));
  return schemas;
}
