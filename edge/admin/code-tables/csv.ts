/** Code tables as CSV (RFC 4180): a line of column names, which may be separated by commas, semicolons or tabs. Lines end with CRLF, LF or CR. */
import { Fault } from '../../../shared/fault.ts';
import { ROW_COLUMNS, type TableRow } from '../../store/admin-code-table.ts';
import { rowBody, type SentRow } from './rows.ts';

export interface CsvLine {
  /** From 1, in the text. */
  readonly line: number;
  readonly row: SentRow;
}

const malformed = (line: number, message: string): Fault =>
  new Fault('invalid', 'the CSV is not valid', { issues: [{ code: 'malformed', message, line }] });

/** The cells of each line. A cell in quotes may contain separators and line ends. */
function* cellsOf(text: string, separator: string): Generator<{ readonly line: number; readonly cells: string[] }> {
  let line = 1;
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    const start = line;
    const cells: string[] = [];
    for (;;) {
      let cell = '';
      if (text[at] === '"') {
        const from = at + 1;
        let end = text.indexOf('"', from);
        while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
        if (end < 0) throw malformed(start, 'a quote is not closed');
        cell = text.slice(from, end).replaceAll('""', '"');
        line += cell.split(/\r\n?|\n/).length - 1;
        at = end + 1;
      } else {
        const from = at;
        while (at < text.length && text[at] !== separator && text[at] !== '\n' && text[at] !== '\r') at += 1;
        cell = text.slice(from, at);
      }
      cells.push(cell);
      if (text[at] === separator) {
        at += 1;
        continue;
      }
      break;
    }
    if (at < text.length && text[at] !== '\r' && text[at] !== '\n')
      throw malformed(start, 'a text follows a closed quote');
    at += text.startsWith('\r\n', at) ? 2 : 1;
    yield { line: start, cells };
    line += 1;
  }
}

const isMember = (name: string): name is keyof SentRow => ROW_COLUMNS.some((member) => member === name);

/** @throws Fault `invalid` with the line */
export function readCsv(text: string): CsvLine[] {
  const [head = ''] = text.split(/[\r\n]/, 1);
  const separator = [';', '\t'].find((each) => head.includes(each)) ?? ',';
  const [first, ...lines] = [...cellsOf(text, separator)];
  const names = (first?.cells ?? []).map((name) => name.trim());
  for (const name of names)
    if (!isMember(name)) throw malformed(1, `the column ${name} is unknown: name ${ROW_COLUMNS.join(', ')}`);
  for (const needed of ['code', 'targetSystem', 'targetCode'])
    if (!names.includes(needed)) throw malformed(1, `the column ${needed} is missing`);
  if (new Set(names).size < names.length) throw malformed(1, 'a column is named twice');
  return lines.flatMap(({ line, cells }) => {
    if (cells.every((cell) => cell.trim() === '')) return [];
    if (cells.length !== names.length)
      throw malformed(line, `must have ${names.length} columns, and has ${cells.length}`);
    const sent = Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']));
    if (sent['equivalence']?.trim() === '') delete sent['equivalence'];
    return [{ line, row: rowBody.parse(sent) }];
  });
}

const printCell = (value: string): string => (/[",;\t\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

/** Rows for a file in a repository: each in a line that ends with LF. */
export const csvText = (rows: readonly TableRow[]): string => (CSV_HEAD + printCsv(rows)).replaceAll('\r\n', '\n');

export const CSV_HEAD = `${ROW_COLUMNS.join(',')}\r\n`;
export const printCsv = (rows: readonly TableRow[]): string =>
  rows.map((row) => `${ROW_COLUMNS.map((name) => printCell(row[name])).join(',')}\r\n`).join('');
