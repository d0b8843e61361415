/**
 * Reads the generated table into the shape that the walker needs. Each line is a type: `<Base`, `#invariant` and elements
 * `name[x]?type|type(targets){valueSet}` with `?` 0..1, `!` 1..1, `*` 0..*, `+` 1..*, then `^` for an element of the summary
 * and `~` for a modifier; the type `.` is the backbone element at this place. `build/generate.ts` reads the
 * StructureDefinitions and writes the table.
 */
import { INVARIANTS, type Invariant } from './invariants.ts';
import { PRIMITIVES, type Primitive } from './primitives.ts';
import { R4_RESOURCE_TYPES, TYPES, VALUE_SETS } from './table.generated.ts';

/** One member of a JSON object: an element, or one type of a choice. */
export interface Element {
  /** Name in FHIRPath: `value` of `valueQuantity`. */
  readonly name: string;
  /** Name of the JSON member. */
  readonly member: string;
  /** Name of the member that holds id and extensions of a primitive. */
  readonly sibling: string;
  readonly many: boolean;
  readonly choice: boolean;
  readonly type: Type;
  /** Resource types a literal reference may point at; undefined is any. */
  readonly targets: ReadonlySet<string> | undefined;
  readonly binding: Binding | undefined;
  /** Belongs to the summary (FHIR R4 elementdefinition, isSummary). */
  readonly isSummary: boolean;
  /** Can change what the others mean (isModifier). */
  readonly isModifier: boolean;
}

/** A required value set; `codes` holds plain codes, and `system|code` when concepts are bound. */
export interface Binding {
  readonly valueSet: string;
  readonly codes: ReadonlySet<string>;
}

export interface Type {
  readonly name: string;
  readonly primitive: Primitive | undefined;
  /** By member name; `_birthDate` finds the same element as `birthDate`. */
  readonly members: Map<string, Element>;
  /** Required elements: name in FHIRPath and the members any of which satisfies. */
  readonly required: { readonly name: string; readonly members: string[] }[];
  readonly invariants: Invariant[];
}

/** Every resource type of R4. */
export const RESOURCES: ReadonlySet<string> = new Set(R4_RESOURCE_TYPES.split(' '));

// oxlint-disable-next-line gateway/linear-expression -- it reads the generated table
const ELEMENT = /^(\w+)(\[x\])?([?!*+])(.+?)(?:\{(.+)\})?(\^)?(~)?$/;
const TYPE = /([\w.]+)(?:\(([^()]+)\))?/g;
const types = new Map<string, Type>();
const unfilled = new Set<Type>();
const bindings = new Map<string, Binding>();

function bindingNamed(valueSet: string): Binding {
  const known = bindings.get(valueSet);
  if (known !== undefined) return known;
  const codes = new Set<string>();
  for (const part of (VALUE_SETS[valueSet] ?? '').split(';')) {
    const bar = part.indexOf('|') + 1;
    for (const code of part.slice(bar).split(' ')) if (code !== '') codes.add(part.slice(0, bar) + code);
  }
  const binding = { valueSet, codes };
  bindings.set(valueSet, binding);
  return binding;
}

function memberOf(name: string, type: string): string {
  // A SimpleQuantity is a Quantity by its type and only by its profile a simple one.
  const suffix = type === 'SimpleQuantity' ? 'Quantity' : type;
  return name + suffix.charAt(0).toUpperCase() + suffix.slice(1);
}

function addElement(type: Type, text: string): void {
  const [, name = '', choice, cardinality, kinds = '', valueSet, summary, modifier] = ELEMENT.exec(text) ?? [];
  const members: string[] = [];
  for (const [, kind = '', targets] of kinds.matchAll(TYPE)) {
    const own = shellOf(kind === '.' ? `${type.name}.${name}` : kind);
    const member = choice === undefined ? name : memberOf(name, kind);
    const element: Element = {
      name,
      member,
      sibling: `_${member}`,
      many: cardinality === '*' || cardinality === '+',
      choice: choice !== undefined,
      type: own,
      targets: targets === undefined ? undefined : new Set(targets.split(',')),
      binding: valueSet === undefined ? undefined : bindingNamed(valueSet),
      isSummary: summary !== undefined,
      isModifier: modifier !== undefined,
    };
    members.push(member);
    type.members.set(member, element);
    if (own.primitive === undefined) continue;
    members.push(element.sibling);
    type.members.set(element.sibling, element);
  }
  if (cardinality === '!' || cardinality === '+') type.required.push({ name, members });
}

function inherit(type: Type, base: Type): void {
  for (const [member, element] of base.members) type.members.set(member, element);
  type.required.push(...base.required);
  type.invariants.push(...base.invariants);
}

// Types refer to each other in circles: an element refers to the shell of its type, which is filled later.
function shellOf(name: string): Type {
  const known = types.get(name);
  if (known !== undefined) return known;
  const type: Type = { name, primitive: PRIMITIVES[name], members: new Map(), required: [], invariants: [] };
  types.set(name, type);
  unfilled.add(type);
  return type;
}

function fill(type: Type): void {
  if (!unfilled.delete(type)) return;
  for (const part of (TYPES[type.name] ?? '').split(' ')) {
    if (part.startsWith('<')) inherit(type, typeNamed(part.slice(1)));
    else if (part.startsWith('#')) type.invariants.push(...[INVARIANTS[part.slice(1)] ?? []].flat());
    else if (part !== '') addElement(type, part);
  }
}

// Only what is asked for and what it reaches is read: most types are there for contained resources.
function readType(name: string): Type {
  const type = typeNamed(name);
  for (const reached of unfilled) fill(reached);
  return type;
}

/** A type of the table, filled. */
export function typeNamed(name: string): Type {
  const type = shellOf(name);
  fill(type);
  return type;
}

const frame = readType('DomainResource');
/** The type of every element, and of the siblings of primitives: id and extensions. */
export const ELEMENT_TYPE = typeNamed('Element');

/** Element names of Bundle and Parameters, which are not in the table. */
const ENVELOPE_NAMES =
  'entry resource fullUrl request method url ifMatch ifNoneMatch ifModifiedSince ifNoneExist search link parameter part';

let elementNames: ReadonlySet<string> | undefined;

/** True for the name of a resource type or of an element anywhere in the table. */
export function isElementName(name: string): boolean {
  elementNames ??= new Set([
    ...RESOURCES,
    ...ENVELOPE_NAMES.split(' '),
    ...Object.values(TYPES).flatMap((line) => line.split(' ').flatMap((part) => ELEMENT.exec(part)?.[1] ?? [])),
  ]);
  return elementNames.has(name);
}

/** The definition of a resource type, or the frame every DomainResource has when it is not in the table. */
export function resourceType(name: string): Type {
  return Object.hasOwn(TYPES, name) ? readType(name) : frame;
}

/** True where the table has all elements of the type, not only the frame of a resource. */
export function isDefined(type: Type): boolean {
  return type !== frame;
}
