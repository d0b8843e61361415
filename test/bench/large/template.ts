/**
 * Rows that the gateway wrote for one event, with blanks for the patient, the time and the values. With other values, they are
 * the rows that the gateway would write for another patient. A value that should be a blank, and is not, is an error.
 */
import { createHash } from 'node:crypto';

import type { Client } from 'pg';

import { cellOf } from './copy.ts';
import { hl7Time } from './messages.ts';

/** The original values of the blanks. */
export type Marks = Readonly<Record<string, string | Date>>;

/** A blank with a name and a number (`code:3`), the format of its value, and true if its bytes are in hexadecimal. */
export interface Blank {
  readonly name: string;
  readonly n: number;
  readonly form: string;
  readonly isHex: boolean;
}

export interface Template {
  readonly blanks: readonly Blank[];
  /** By table: texts, and positions of blanks. */
  readonly tables: ReadonlyMap<string, readonly (string | number)[]>;
  /** The messages, in order, for their hashes. */
  readonly messages: readonly (readonly (string | number)[])[];
}

export interface Column {
  readonly name: string;
  readonly type: string;
}

/** The tables of a site's data with their writable columns, in the order of COPY. */
export async function tablesOf(client: Client): Promise<ReadonlyMap<string, readonly Column[]>> {
  const { rows } = await client.query<{ table: string; name: string; type: string }>(
    `select c.relname as table, a.attname as name, format_type(a.atttypid, -1) as type
       from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped
        and a.attgenerated = '' and exists (select from pg_attribute s where s.attrelid = c.oid and s.attname = 'site_id')
      order by c.relname, a.attnum`,
  );
  return Map.groupBy(rows, ({ table }) => table);
}

type Row = readonly (string | null)[];
export type Rows = ReadonlyMap<string, readonly Row[]>;

/** All rows of a site, by table. */
export async function rowsOf(
  client: Client,
  site: string,
  tables: ReadonlyMap<string, readonly Column[]>,
): Promise<Rows> {
  const found = new Map<string, readonly Row[]>();
  for (const [table, columns] of tables) {
    const { rows } = await client.query<(string | null)[]>({
      text: `select ${columns.map(({ name }) => `"${name}"::text`).join(', ')} from ${table} where site_id = $1 order by 1, 2, 3`,
      values: [site],
      rowMode: 'array',
    });
    if (rows.length > 0) found.set(table, rows);
  }
  return found;
}

/** The formats of an instant. If two give the same text, the first is used. */
const INSTANTS: Readonly<Record<string, (at: Date) => string>> = {
  hl7: hl7Time,
  offset: (at) => `${at.toISOString().slice(0, 19)}+00:00`,
  millis: (at) => at.toISOString(),
  second: (at) => `${at.toISOString().slice(0, 19)}Z`,
  minute: (at) => `${at.toISOString().slice(0, 16)}Z`,
  order: (at) => String(at.getTime()).padStart(15, '0'),
  postgres: (at) => `${at.toISOString().slice(0, 19).replace('T', ' ')}+00`,
  next: (at) => `${new Date(at.getTime() + 1000).toISOString().slice(0, 19).replace('T', ' ')}+00`,
};
/** The formats of a text: unchanged, folded for searches, and a date of HL7. */
const TEXTS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  lower: (text) => text.toLowerCase(),
  date: (text) => text.replaceAll('-', ''),
};

/** @returns the value of a blank in this format */
export function formOf(value: string | Date, form: string): string {
  const made = typeof value === 'string' ? TEXTS[form]?.(value) : INSTANTS[form]?.(value);
  if (made === undefined) throw new TypeError(`no form ${form}`);
  return made;
}

/** A part that all marks have: a match outside the blanks is an error. */
const MARKED = /2021-?03-?04|qqq/i;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const sha256 = (text: string): string => createHash('sha256').update(text, 'latin1').digest('base64url');
const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex');

export interface Recording {
  readonly rows: Rows;
  readonly columns: ReadonlyMap<string, readonly Column[]>;
  /** Blanks by name, including `site`. All other ids are new each time. */
  readonly marks: Marks;
  /** The start of each step after the first, by the database's clock: a time in step n is the blank `now:n`. */
  readonly steps: readonly Date[];
}

/** @throws if a row has a part of the marks outside the blanks */
export function templateOf({ rows, columns, marks, steps }: Recording): Template {
  const blanks: Blank[] = [];
  const blankOf = (numbered: string, form: string, isHex: boolean): number => {
    const [name = '', number = '0'] = numbered.split(':');
    const n = Number(number);
    const at = blanks.findIndex((one) => one.name === name && one.n === n && one.form === form && one.isHex === isHex);
    return at < 0 ? blanks.push({ name, n, form, isHex }) - 1 : at;
  };
  const marked = new Map<string, readonly [name: string, form: string]>();
  for (const [name, value] of Object.entries(marks)) {
    for (const form of Object.keys(typeof value === 'string' ? TEXTS : INSTANTS)) {
      const text = formOf(value, form);
      if (!marked.has(text)) marked.set(text, [name, form]);
    }
  }
  // The rows contain the messages whose hashes they have.
  const place = (table: string, column: string): number =>
    (columns.get(table) ?? []).findIndex(({ name }) => name === column);
  const raws = (rows.get('hl7_message') ?? []).map((row) =>
    Buffer.from((row[place('hl7_message', 'raw')] ?? '').slice(2), 'hex').toString('latin1'),
  );
  raws.forEach((raw, n) => marked.set(sha256(raw), [`sha:${n}`, 'plain']));
  const ordered = [...marked.keys()].toSorted((a, b) => b.length - a.length).map(escaped);
  const pattern = new RegExp(`${ordered.join('|')}|${UUID}`, 'g');
  const ids: string[] = [];

  const split = (text: string, written: (piece: string) => string): (string | number)[] => {
    const parts: (string | number)[] = [];
    let from = 0;
    const plain = (piece: string): void => {
      if (MARKED.test(piece)) throw new Error(`a mark outside the blanks: ${piece}`);
      if (piece !== '') parts.push(written(piece));
    };
    for (const match of text.matchAll(pattern)) {
      const [found] = match;
      plain(text.slice(from, match.index));
      from = match.index + found.length;
      const mark = marked.get(found);
      if (mark === undefined && !ids.includes(found)) ids.push(found);
      parts.push(blankOf(...(mark ?? ([`id:${ids.indexOf(found)}`, 'plain'] as const)), written === hex));
    }
    plain(text.slice(from));
    return parts;
  };

  const cell = (value: string | null, { type }: Column, table: string): (string | number)[] => {
    if (value === null) return [cellOf(null)];
    if (type === 'bytea')
      return [cellOf(String.raw`\x`), ...split(Buffer.from(value.slice(2), 'hex').toString('latin1'), hex)];
    if (type === 'timestamp with time zone' && table !== 'resource_date') {
      const at = new Date(value);
      const step = steps.filter((begun) => begun <= at).length;
      return [blankOf(`now:${step}`, 'millis', false)];
    }
    return split(value, cellOf);
  };

  const tables = new Map<string, (string | number)[]>();
  for (const [table, all] of rows) {
    const parts = all.flatMap((row) =>
      row.flatMap((value, n) => {
        const column = columns.get(table)?.[n];
        if (column === undefined) throw new TypeError(`${table} has no column ${n}`);
        return [...(n === 0 ? [] : ['\t']), ...cell(value, column, table), ...(n === row.length - 1 ? ['\n'] : [])];
      }),
    );
    tables.set(table, joined(parts));
  }
  return { blanks, tables, messages: raws.map((raw) => split(raw, String)) };
}

/** Joins texts that follow each other. */
function joined(parts: readonly (string | number)[]): (string | number)[] {
  const result: (string | number)[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (typeof part === 'string' && typeof last === 'string') result[result.length - 1] = last + part;
    else result.push(part);
  }
  return result;
}

export function filled(parts: readonly (string | number)[], values: readonly string[]): string {
  let text = '';
  for (const part of parts) text += typeof part === 'string' ? part : values[part];
  return text;
}

/**
 * @param given returns the value of a blank, or undefined for an unknown name
 * @param newId returns the nth new id
 * @returns the values of the blanks, in order
 */
export function valuesFor(
  template: Template,
  given: (name: string, n: number) => string | Date | undefined,
  newId: (n: number) => string,
): string[] {
  const values: string[] = [];
  const hashes: number[] = [];
  for (const [at, { name, n, form, isHex }] of template.blanks.entries()) {
    if (name === 'sha') {
      hashes.push(at);
      values.push('');
      continue;
    }
    const value = name === 'id' ? newId(n) : given(name, n);
    if (value === undefined) throw new Error(`the blank ${name} has no value`);
    const text = form === 'plain' && typeof value === 'string' ? value : formOf(value, form);
    values.push(isHex ? hex(text) : text);
  }
  for (const at of hashes) values[at] = sha256(filled(template.messages[template.blanks[at]?.n ?? 0] ?? [], values));
  return values;
}
