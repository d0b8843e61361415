/** The statuses of Conditions, from DG1 and PRB. */
import { fixed, type Contribution } from '../../precedence/contribution.ts';
import { conceptOf } from '../datatypes/cwe.ts';

export const CONDITION_CLINICAL = 'http://terminology.hl7.org/CodeSystem/condition-clinical';
export const CONDITION_VERIFICATION = 'http://terminology.hl7.org/CodeSystem/condition-ver-status';
export const CONDITION_CATEGORY = 'http://terminology.hl7.org/CodeSystem/condition-category';

/** A Condition that was entered in error: it has no clinical status (FHIR R4, Condition, con-5). */
export const CONDITION_IN_ERROR: readonly Contribution[] = [
  fixed('clinicalStatus', null),
  // Only an ended problem has an end (con-4).
  fixed('abatement[x]', null),
  fixed('verificationStatus', conceptOf(CONDITION_VERIFICATION, 'entered-in-error')),
];
