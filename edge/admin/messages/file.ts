/** The listed messages as a file, with their outcomes but without their content. */
import type { ListedRow } from '../../store/message-search.ts';
import { viewListedMessage } from './view.ts';

export const FILE_TYPES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const;
export type FileType = keyof typeof FILE_TYPES;

/** A row has neither findings nor patients, because both hold data of the message. */
function lineOf(row: ListedRow) {
  const { finding, named: _named, patient: _patient, ...message } = viewListedMessage(row);
  return { ...message, reason: finding?.reason ?? finding?.code ?? null };
}
type Line = ReturnType<typeof lineOf>;

const COLUMNS = [
  'receivedAt',
  'messageType',
  'controlId',
  'sendingApplication',
  'sendingFacility',
  'keyName',
  'clientId',
  'source',
  'sourceAddress',
  'outcome',
  'reason',
  'warnings',
  'tookMs',
  'messageId',
] as const satisfies readonly (keyof Line)[];

/** RFC 4180; what a spreadsheet would take for a formula begins with an apostrophe. */
function cell(value: string | number | null): string {
  const text = String(value ?? '');
  const plain = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

const TEXTS: Readonly<Record<FileType, (line: Line) => string>> = {
  csv: (line) => `${COLUMNS.map((name) => cell(line[name])).join(',')}\r\n`,
  ndjson: (line) => `${JSON.stringify(line)}\n`,
};

/** The pages of the file. */
export async function* fileOf(
  type: FileType,
  pages: AsyncGenerator<readonly ListedRow[], undefined>,
): AsyncGenerator<string, undefined> {
  let head = type === 'csv' ? `${COLUMNS.join(',')}\r\n` : '';
  for await (const rows of pages) {
    const lines = rows.map(lineOf).map((line) => TEXTS[type](line));
    yield [head, ...lines].join('');
    head = '';
  }
  return undefined;
}
