/**
 * The prepared statements of a connection, which PostgreSQL parses once, and plans once after it has found a good plan. A
 * name is derived from the text, so that behind a pooler a name has the same meaning on every server connection.
 */
import { createHash } from 'node:crypto';

/** A column of the returned rows. */
export interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** A statement as the server knows it. */
export interface Slot {
  /** Empty if it is parsed each time. */
  readonly name: string;
  columns: readonly Column[];
}

/** Each takes some ten kilobytes on the server. Requests use some fifty statements, bundles any number. */
const MAX_PREPARED = 120;
/** A longer statement, as from a large bundle, is not used twice. */
const MAX_TEXT = 8_000;

const names = new Map<string, string>();
const MAX_NAMES = 2_000;

/** The name for a text; empty if it is not worth preparing. */
export function nameOf(text: string): string {
  if (text.length > MAX_TEXT) return '';
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(text).digest('base64url');
  if (names.size >= MAX_NAMES) names.clear();
  names.set(text, name);
  return name;
}

export interface Statements {
  readonly get: (text: string) => Slot | undefined;
  readonly add: (text: string, slot: Slot) => void;
  /** Returns once the names to close on the server: the least recently used. */
  readonly takeForgotten: () => readonly string[];
}

export function createStatements(): Statements {
  const prepared = new Map<string, Slot>();
  let forgotten: string[] = [];
  return {
    get(text) {
      const found = prepared.get(text);
      if (found === undefined) return undefined;
      prepared.delete(text);
      prepared.set(text, found);
      return found;
    },
    add(text, slot) {
      prepared.set(text, slot);
      const [oldest] = prepared;
      if (prepared.size <= MAX_PREPARED || oldest === undefined) return;
      prepared.delete(oldest[0]);
      forgotten.push(oldest[1].name);
    },
    takeForgotten() {
      const names = forgotten;
      forgotten = [];
      return names;
    },
  };
}
