/** The addresses of an export and of its files (FHIR Bulk Data Access 2.0.0, Bulk Data Status Request, Output File Request). */
import { Fault } from '../../../shared/fault.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';

/** The file with the OperationOutcomes of the export itself. */
export const OUTCOMES = 'OperationOutcome';
/** The file with the Bundles that delete the erased patients. */
export const DELETED = 'Bundle';

/** @param root our own `{base}/fhir` */
export const statusUrl = (root: string, id: string): string => `${root}/$export/${id}`;

export const fileUrl = (
  root: string,
  id: string,
  type: ResourceType | typeof OUTCOMES | typeof DELETED,
  number: number,
): string => `${statusUrl(root, id)}/${type}.${number}.ndjson`;

/** The file with the Provenance of the resources in a file. */
export const provenanceUrl = (root: string, id: string, type: ResourceType, number: number): string =>
  `${statusUrl(root, id)}/Provenance-${type}.${number}.ndjson`;

const FILE = /^(Provenance-)?([A-Za-z]+)\.([1-9]\d{0,8})\.ndjson$/;

export interface FileName {
  /** The type of the resources, or that of the resources whose Provenance is in the file. */
  readonly type: string;
  readonly number: number;
  readonly isProvenance: boolean;
}

/** @returns undefined for a name that no file has */
export function fileOf(name: string): FileName | undefined {
  const [, provenance, type, number] = FILE.exec(name) ?? [];
  return type === undefined ? undefined : { type, number: Number(number), isProvenance: provenance !== undefined };
}

/** One answer for an unknown export, an export of another key, and a deleted export. */
export function noExport(): Fault {
  const message =
    'This API key has no export with this id, or the export has no such file. Exports end after 24 hours, when they are ' +
    'cancelled, and when a patient of the site is erased. Begin another export with $export.';
  return new Fault('not-found', message);
}
