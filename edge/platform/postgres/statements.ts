/**
 * What a connection has prepared: PostgreSQL parses, and once it knows a good plan plans, such a statement no more. A name is
 * made of its text, so that behind a pooler, where connections to the server change hands, a name never stands for another
 * statement than it does here.
 */
import { createHash } from 'node:crypto';

/** A column of the rows that come back. */
export interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** A statement as the server knows it. */
export interface Slot {
  /** '': it is parsed each time. */
  readonly name: string;
  columns: readonly Column[];
}

/** Each costs the server's process some ten kilobytes. Requests have some fifty forms; those of bundles are without number. */
const MAX_PREPARED = 120;
/** A statement made for one request, as that of a large bundle, is not asked twice. */
const MAX_TEXT = 8_000;

const names = new Map<string, string>();
const MAX_NAMES = 2_000;

/** The name that a text is prepared by; '' where it is not worth it. */
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
  /** Names that the server may forget, once: those that were used least lately. */
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
