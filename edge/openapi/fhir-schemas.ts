/**
 * The seven types and their datatypes as JSON Schemas, from the table of the validator. A schema has no invariants, references or
 * open codes: the validator can reject a resource that is valid here, but never accepts an invalid one. Circles are cut, because
 * some readers expand all references.
 */
import { isResourceType, type ResourceType } from '../../shared/resource-type.ts';
import { type Element, resourceType, type Type } from '../fhir/validate/definitions.ts';
import { PRIMITIVES } from '../fhir/validate/primitives.ts';
import { EXAMPLES } from './fhir-examples.ts';
import { ref, type Schema } from './model.ts';

/** A longer list of codes appears by its name only. */
const MAX_CODES = 40;
/** Types that contain all types or themselves. */
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
/** Each element may have these members; the description of the resources mentions them once. */
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
  // A grammar defines a value set without codes (media types).
  return codes.length === 0 || codes.length > MAX_CODES || codes.some((code) => code.includes('|'))
    ? { type: 'string', description: `A code of the value set ${binding.valueSet}.` }
    : { type: 'string', enum: codes };
}

/** Facts that a JSON Schema cannot express. */
function descriptionOf({ name, choice, type, binding, targets }: Element): string {
  const sentences = [
    choice ? `One of ${name}[x].` : '',
    binding !== undefined && type.primitive === undefined ? `Codes of ${binding.valueSet}.` : '',
    targets === undefined ? '' : `To ${[...targets].join(', ')}.`,
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function memberSchema(element: Element): Schema {
  const value = valueOf(element);
  const description = descriptionOf(element);
  const schema = element.many ? { type: 'array', items: value } : value;
  return description === '' ? schema : { ...schema, description };
}

/** The elements of a type without siblings of primitives (`_birthDate`), which the description mentions. */
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
  // A required choice needs any one of its members.
  return { properties, required: type.required.flatMap(({ name }) => (name in properties ? [name] : [])) };
}

const ABOUT_ELEMENTS =
  'Each element may have `id` and `extension`; for a primitive they are in a member with `_` before its name. ' +
  'The gateway also checks invariants and codes of systems: use `$validate`.';

const resourceSchema = (name: ResourceType, { properties, required }: Members): Schema => ({
  type: 'object',
  description: `R4 ${name}. ${ABOUT_ELEMENTS}`,
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

/** @returns a schema for each of the types, and for each datatype and primitive that they reach, by name */
export function fhirSchemas(types: readonly ResourceType[]): Readonly<Record<string, Schema>> {
  const schemas: Record<string, Schema> = { ...OPAQUE };
  const add = (type: Type): void => {
    if (type.name in schemas) return;
    schemas[type.name] = schemaOf(type);
    for (const element of elementsOf(type)) add(element.type);
  };
  for (const type of types) add(resourceType(type));
  return schemas;
}
