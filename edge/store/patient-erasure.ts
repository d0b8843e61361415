/** Erases one person of a site, with the rights of the tables' owner (migrations/functions/patient_erase.sql). */
import type { Query } from '../deps.ts';
import { sql } from './sql.ts';

export type ErasureRow =
  | { readonly refusal: 'legal-hold' | 'missing'; readonly what: null; readonly number: null }
  /** `what`: the patient that it was merged into. */
  | { readonly refusal: 'merged'; readonly what: string; readonly number: null }
  | { readonly refusal: null; readonly what: string; readonly number: number };

/** @param isDone false: nothing is erased, and the rows count what would be erased */
export function erasePatient(site: string, patient: string, isDone: boolean): Query<ErasureRow> {
  return sql<ErasureRow>`select refusal, what, number from patient_erase(${site}::uuid, ${patient}::uuid, ${isDone})`;
}
