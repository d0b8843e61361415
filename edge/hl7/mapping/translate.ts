/**
 * The codes that a site's code tables add to those of a message (edge/docs/behaviour.md, HL7 v2, Code tables). Only an equal or
 * equivalent target is added. A wider or narrower one would state something that the sender did not say.
 */
import type { JsonObject } from '../../../shared/json.ts';
import { keyOfCode, sentCode, type CodeRow, type SentCode } from '../../store/code-table.ts';
import { addedCoding } from '../precedence/added-coding.ts';

/** The live tables of a site, with the rows that were looked up for a message. */
export interface CodeTables {
  /** The coding systems of live tables, as `sourceSystem`. */
  readonly systems: ReadonlySet<string>;
  /** Undefined for a code that was not looked up. */
  readonly rowsOf: (code: SentCode) => readonly CodeRow[] | undefined;
}

/** A code without a row, in a coding system that a live table has. */
export interface MissingCode extends SentCode {
  /** The sender's text for it; `''` without one. */
  readonly text: string;
}

/**
 * The codings of a code.
 *
 * @param name CWE.3, or the field's own HL7 table
 * @param text the sender's
 */
export type Translate = (name: string | undefined, code: string, text: string | undefined) => readonly JsonObject[];

export interface Translation {
  /** Undefined without live tables. */
  readonly translate: Translate | undefined;
  /** Codes that were not looked up: the decision must be made again with them. */
  readonly unresolved: ReadonlyMap<string, SentCode>;
  readonly misses: ReadonlyMap<string, MissingCode>;
}

/** The sender of a message: MSH-3 and MSH-4. */
interface Names {
  readonly sendingApplication?: string | undefined;
  readonly sendingFacility?: string | undefined;
}

export function createTranslation({ systems, rowsOf }: CodeTables, sender: Names): Translation {
  const unresolved = new Map<string, SentCode>();
  const misses = new Map<string, MissingCode>();
  const translate: Translate = (name, code, text) => {
    const sent = sentCode(name, code);
    if (!systems.has(sent.system)) return [];
    const rows = rowsOf(sent);
    if (rows === undefined) {
      unresolved.set(keyOfCode(sent), sent);
      return [];
    }
    const fitting = rows.filter((row) => isFor(row, sender));
    if (fitting.length === 0) misses.set(keyOfCode(sent), { ...sent, text: text ?? '' });
    const best = Math.max(...fitting.map(closeness));
    return fitting
      .filter((row) => closeness(row) === best && ['equal', 'equivalent'].includes(row[5]))
      .map(([, , system, target, display]) => addedCoding(system, target, display));
  };
  return { translate: systems.size === 0 ? undefined : translate, unresolved, misses };
}

const isFor = ([application, facility]: CodeRow, { sendingApplication, sendingFacility }: Names): boolean =>
  (application === '' || application === sendingApplication) && (facility === '' || facility === sendingFacility);

/** A row for the sender replaces the rows for any sender. */
const closeness = ([application, facility]: CodeRow): number =>
  (application === '' ? 0 : 2) + (facility === '' ? 0 : 1);
