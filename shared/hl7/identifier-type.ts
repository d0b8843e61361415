/** Types of a person's numbers (HL7 v2.5.1 table 0203, CX.5) that are alike for everybody. */

/**
 * Types that never identify a patient: people share them, or have many of them, and they are typed wrong. Social
 * security, driver's licence, account, visit, passport and insurance numbers.
 */
export const NEVER_IDENTIFYING: ReadonlySet<string> = new Set(
  'SS SSN DL DLN AN ANC AND ANT VN PPN MA MC MCN HC NIIP SN'.split(' '),
);
