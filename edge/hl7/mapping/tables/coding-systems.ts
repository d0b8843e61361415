/**
 * The URIs of coding systems (CWE.3). A system without a known URI gets one of the gateway, so that a local code still has a
 * system.
 */
import { HL7_TABLE, knownSystem, SOME_HL7_TABLE, systemOfTable } from '../../../store/coding-systems.ts';
import { nameKey } from '../../../store/patient-identity.ts';
import type { MapContext } from '../context.ts';

/**
 * The system of a field's HL7 table.
 *
 * @param table `HL70078`
 */
export const tableSystem = (table: string): string => systemOfTable(table.slice('HL7'.length));

/** Checks whether CWE.3 names the field's own table, or is empty. */
export const isOwnTable = (name: string | undefined, table: string): boolean =>
  name === undefined || SOME_HL7_TABLE.test(name) || HL7_TABLE.exec(name)?.[1] === table.slice('HL7'.length);

/** CWE.3 has twelve characters, twenty in later versions: a much longer text is not a name. */
const MAX_NAME_LENGTH = 100;

/**
 * The URI of a coding system. An unmapped one gets a URI of this site (edge/docs/behaviour.md, HL7 v2), and is reported, so
 * that an administrator can name it.
 *
 * @param names CWE.3 or CWE.6, and other names of the same system: CWE.14, an OID. The first known one counts
 * @returns undefined without a name
 */
export function codingSystem(names: readonly (string | undefined)[], context: MapContext): string | undefined {
  const given = names.filter((name) => name !== undefined);
  for (const name of given) {
    const known = knownSystem(name, context.codeSystems);
    if (known !== undefined) return known;
  }
  const [name] = given;
  if (name === undefined || name.length > MAX_NAME_LENGTH) return undefined;
  const key = nameKey(name);
  context.unmapped({ kind: 'code-system', name: key });
  if (context.localSystems === undefined) return undefined;
  return context.localSystems + encodeURIComponent(key.toWellFormed());
}
