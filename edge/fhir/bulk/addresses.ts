/** Where an export and its files are (FHIR Bulk Data Access 2.0.0, Bulk Data Status Request, Output File Request). */
import { Fault } from '../../../shared/fault.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';

/** What is told of the export itself: a file like the others, without resources. */
export const OUTCOMES = 'OperationOutcome';

/** @param root our own `{base}/fhir` */
export const statusUrl = (root: string, id: string): string => `${root}/$export/${id}`;

export const fileUrl = (root: string, id: string, type: ResourceType | typeof OUTCOMES, number: number): string =>
  `${statusUrl(root, id)}/${type}.${number}.ndjson`;

const FILE = /^([A-Za-z]+)\.([1-9]\d{0,8})\.ndjson$/;

/** @returns undefined for what no file is called */
export function fileOf(name: string): { readonly type: string; readonly number: number } | undefined {
  const [, type, number] = FILE.exec(name) ?? [];
  return type === undefined ? undefined : { type, number: Number(number) };
}

/** The same for an export that never was, one of another key, and one that is not there any more. */
export function noExport(): Fault {
  const message =
    'no export with this id, or no such file of it, of this API key: exports end after 24 hours, when they are cancelled, ' +
    'and when a patient of the site is erased. Begin another with $export';
  return new Fault('not-found', message);
}
