/** Types of patient identifiers (HL7 v2.5.1 table 0203, CX.5) that mean the same at every site. */

/**
 * Types that never identify a patient: social security, driver's licence, account, visit, passport and insurance numbers.
 * Patients share them, have several of them, or they are often mistyped.
 */
export const NEVER_IDENTIFYING: ReadonlySet<string> = new Set(
  'SS SSN DL DLN AN ANC AND ANT VN PPN MA MC MCN HC NIIP SN'.split(' '),
);
