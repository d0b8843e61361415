/**
 * Code tables as ConceptMap of FHIR R4. A code table has no `unmapped`, no `product`, and a `dependsOn` only of the sender. A
 * ConceptMap with others would have another meaning, and is rejected.
 */
import * as z from 'zod';

import { knownSystem, sourceSystem } from '../../store/coding-systems.ts';
import { EQUIVALENCES } from '../../store/code-table.ts';
import type { TableRow } from '../../store/admin-code-table.ts';
import type { SentRow } from './rows.ts';

/** The coding systems of a site: names with URIs of its settings, and the prefix of URIs for others. */
export interface SiteSystems {
  readonly named: ReadonlyMap<string, string>;
  /** Undefined if the gateway has no FHIR address. */
  readonly local: string | undefined;
}

const uri = z.string().min(1).max(300);
const code = z.string().min(1);
const [APPLICATION, FACILITY] = ['MSH-3', 'MSH-4'] as const;

const target = z.strictObject({
  code: code.optional(),
  display: z.string().optional(),
  equivalence: z.enum(EQUIVALENCES),
  comment: z.string().optional(),
  dependsOn: z
    .array(z.strictObject({ property: z.enum([APPLICATION, FACILITY]), value: code }))
    .max(2)
    .optional(),
});

// prettier-ignore
const METADATA = [
  'id', 'meta', 'language', 'text', 'url', 'identifier', 'version', 'name', 'title', 'experimental', 'date', 'publisher', 'contact',
  'description', 'useContext', 'jurisdiction', 'purpose', 'copyright', 'sourceUri', 'sourceCanonical', 'targetUri',
  'targetCanonical',
] as const;

/** FHIR R4, ConceptMap: metadata is accepted and not stored. */
export const conceptMapBody = z.strictObject({
  resourceType: z.literal('ConceptMap'),
  status: z.enum(['draft', 'active', 'retired', 'unknown']),
  ...Object.fromEntries(METADATA.map((name) => [name, z.unknown().optional()])),
  group: z.array(
    z.strictObject({
      source: uri,
      sourceVersion: z.string().optional(),
      target: uri.optional(),
      targetVersion: z.string().optional(),
      element: z.array(
        z.strictObject({ code, display: z.string().optional(), target: z.array(target).max(50).optional() }),
      ),
    }),
  ),
});
export type ConceptMapBody = z.infer<typeof conceptMapBody>;

const V2_TABLE = /^http:\/\/terminology\.hl7\.org\/CodeSystem\/v2-(\d{4})$/;

function nameOfUri(system: string, { named, local }: SiteSystems): string {
  if (local !== undefined && system.startsWith(local)) return decodeURIComponent(system.slice(local.length));
  const table = V2_TABLE.exec(system)?.[1];
  if (table !== undefined) return `HL7${table}`;
  return [...named].find(([, value]) => value === system)?.[0] ?? sourceSystem(system);
}

const uriOfName = (name: string, { named, local = '' }: SiteSystems): string =>
  knownSystem(name, named) ?? local + encodeURIComponent(name);

/** A row with the path of its target, or of its element without one: `group[0].element[3].target[0]`. */
export interface MapRow {
  readonly path: string;
  readonly row: SentRow;
}

/** Each target is a row; an element without a target is `unmatched`. */
export function rowsOfConceptMap({ group }: ConceptMapBody, systems: SiteSystems): MapRow[] {
  return group.flatMap(({ source, target: targetSystem = '', element }, ofGroup) =>
    element.flatMap(({ code: sent, target: targets }, ofElement) =>
      (targets ?? [{ equivalence: 'unmatched' as const }]).map(
        (each: Partial<z.infer<typeof target>>, ofTarget): MapRow => {
          const { equivalence = '', code: targetCode = '', display = '', dependsOn = [] } = each;
          const valueOf = (name: string): string => dependsOn.find(({ property }) => property === name)?.value ?? '';
          const row = {
            system: nameOfUri(source, systems),
            code: sent,
            application: valueOf(APPLICATION),
            facility: valueOf(FACILITY),
            targetSystem: equivalence === 'unmatched' ? '' : targetSystem,
            targetCode,
            display,
            equivalence,
          };
          const path = `group[${ofGroup}].element[${ofElement}]`;
          return { path: targets === undefined ? path : `${path}.target[${ofTarget}]`, row };
        },
      ),
    ),
  );
}

/** The elements of a ConceptMap by member of a row, from the target, the element or the group. */
const ELEMENTS: Readonly<Record<keyof TableRow, readonly ['target' | 'element' | 'group', string]>> = {
  system: ['group', 'source'],
  code: ['element', 'code'],
  application: ['target', 'dependsOn'],
  facility: ['target', 'dependsOn'],
  targetSystem: ['group', 'target'],
  targetCode: ['target', 'code'],
  display: ['target', 'display'],
  equivalence: ['target', 'equivalence'],
};

/** The element of a member of a row, as FHIRPath. @param path of `MapRow` */
export function elementOf(path: string, member: keyof TableRow): string {
  const [holder, name] = ELEMENTS[member];
  const end = path.indexOf(`.${{ target: '', element: 'target', group: 'element' }[holder]}[`);
  return `${holder === 'target' || end < 0 ? path : path.slice(0, end)}.${name}`;
}

/** The ConceptMap of some rows of a table. */
export function conceptMapOf(
  { name, version, isLive }: { readonly name: string; readonly version: number; readonly isLive: boolean },
  rows: readonly TableRow[],
  systems: SiteSystems,
) {
  const groups = Map.groupBy(rows, ({ system, targetSystem }) => JSON.stringify([system, targetSystem]));
  return {
    resourceType: 'ConceptMap',
    version: `${version}`,
    title: name,
    status: isLive ? 'active' : 'draft',
    group: [...groups.values()].map((ofGroup) => ({
      source: uriOfName(ofGroup[0]?.system ?? '', systems),
      ...(ofGroup[0]?.targetSystem ? { target: ofGroup[0].targetSystem } : {}),
      element: [...Map.groupBy(ofGroup, ({ code: sent }) => sent)].map(([sent, ofCode]) => ({
        code: sent,
        target: ofCode.map(({ targetCode, display, equivalence, application, facility }) => ({
          ...(targetCode === '' ? {} : { code: targetCode }),
          ...(display === '' ? {} : { display }),
          equivalence,
          ...(application + facility === ''
            ? {}
            : {
                dependsOn: [
                  ...(application === '' ? [] : [{ property: APPLICATION, value: application }]),
                  ...(facility === '' ? [] : [{ property: FACILITY, value: facility }]),
                ],
              }),
        })),
      })),
    })),
  };
}
