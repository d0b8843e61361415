/** The resources of one patient, stored and made by the message, by their HL7 keys. */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Draft, Drafts } from './drafts.ts';
import type { Contribution } from './field-map.ts';
import { keyOf } from './key.ts';

export interface Chart {
  readonly patient: Draft;
  readonly find: (type: ResourceType, key: string) => Draft | undefined;
  readonly create: (type: ResourceType, key: string) => Draft;
  readonly apply: (draft: Draft, contributions: readonly Contribution[]) => void;
}

/** @param newId of a resource that is created */
export function chartOf(patient: Draft, drafts: Drafts, newId: () => string): Chart {
  return {
    patient,
    find: (type, key) => drafts.byKey(type, keyOf(key, patient.id)),
    create: (type, key) => drafts.create(type, newId(), keyOf(key, patient.id)),
    apply: drafts.apply,
  };
}
