/** Combines a record that only results and documents made with the record of the same person. */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import { objectsOf } from '../../../shared/json.ts';
import { isSameIdentifier } from '../../store/patient-identity.ts';
import { note } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import { ADDED, type Precedence } from '../precedence/precedence.ts';
import type { Merge } from './merge.ts';
import { rememberMerge } from './merge-register.ts';
import type { PatientContext } from './patient-context.ts';
import { link } from './survivor.ts';

/** Merges the record into the patient, which gets its identifiers and statements. */
export function absorb(id: string, patient: Draft, precedence: Precedence, { drafts, context }: PatientContext): Merge {
  const record = drafts.byId('Patient', id);
  if (record === undefined) throw new TypeError('an absorbed record was looked up');
  note(context, 'I', '201', 'PID^1^3', ERROR_REASONS['record-absorbed'], 'record-absorbed');
  const others = objectsOf(record.content['identifier']);
  drafts.identifiers(patient, 'PID-3', (items) => [
    ...items,
    ...others.filter((item) => !items.some((own) => isSameIdentifier(own, item))),
  ]);
  drafts.teach(patient, record.numbers);
  const numbers = record.numbers.map(([authority, value]) => ({ authority, value, led: true }));
  for (const number of numbers) drafts.forget(record, number);
  drafts.join(patient, record);
  drafts.apply(record, [link('replaced-by', patient)], ADDED, false, 'PID-3');
  drafts.apply(patient, [link('replaces', record)], ADDED, false, 'PID-3');
  rememberMerge(record, patient, precedence, drafts);
  return { from: id, to: patient.id, isAbsorbed: true };
}
