/**
 * The gateway's treatment of the v2-to-FHIR guide, row by row (a row is a line of the CSV of that map). A field table
 * lists the rows that it cites (`FieldMap.rows`). Here are the rows that code follows in another form, and the rows
 * that are left out, with the reason. A test compares both with the guide's own files.
 */

export interface GuideRows {
  /** Name of the map, `PID[Patient]`. */
  readonly map: string;
  /** `3, 5-8`. */
  readonly rows: string;
}

export interface LeftOut extends GuideRows {
  readonly reason: string;
}

/** Followed outside the field tables. */
export const FOLLOWED: readonly GuideRows[] = [
  // segments/al1-iam.ts, dg1.ts, pr1.ts: statuses.
  { map: 'AL1[AllergyIntolerance]', rows: '3, 4' },
  { map: 'IAM[AllergyIntolerance]', rows: '3, 4, 30' },
  { map: 'DG1[Condition]', rows: '25, 26' },
  { map: 'PR1[Procedure]', rows: '3' },
  // segments/obr.ts, orc.ts: order numbers and status.
  { map: 'OBR[DiagnosticReport]', rows: '4-9, 32' },
  { map: 'ORC[DiagnosticReport]', rows: '4-6, 8-10' },
  // segments/obx.ts, obx-value.ts, obx-status.ts, spm.ts: value, unit, status, specimen.
  { map: 'OBX[Observation]', rows: '7-24, 26, 27, 29-36, 42-47, 85, 86' },
  {
    map: 'OBX[Observation-Component]',
    rows: '5-25, 27, 28, 31, 32, 34-39, 41, 43-50, 53, 55, 58-64, 66, 70-72, 76, 77, 87, 88',
  },
  // segments/nte.ts, txa.ts.
  { map: 'NTE[Observation]', rows: '5, 7, 8' },
  { map: 'NTE[DocumentReference]', rows: '5' },
  { map: 'OBX[DocumentReference]', rows: '7, 8, 10, 11' },
  { map: 'TXA[DocumentReference]', rows: '3, 6, 24-26' },
  // mapping/datatypes/
  { map: 'CE[CodeableConcept]', rows: '3-8' },
  { map: 'CF[CodeableConcept]', rows: '3-15' },
  { map: 'CNE[CodeableConcept]', rows: '3-15' },
  { map: 'CWE[CodeableConcept]', rows: '3-15' },
  { map: 'CWE[code]', rows: '3, 6' },
  { map: 'CWE[string]', rows: '4, 11' },
  { map: 'CWE[Quantity]', rows: '3-6' },
  { map: 'CWE[Organization]', rows: '3-5, 11' },
  { map: 'CX[Identifier]', rows: '3-10, 12, 13' },
  { map: 'DLN[Identifier]', rows: '3-7' },
  { map: 'DR[Period]', rows: '3, 4' },
  { map: 'DTM[dateTime]', rows: '3' },
  { map: 'ED[Attachment]', rows: '6, 8' },
  { map: 'EI[Identifier-Extension]', rows: '3' },
  { map: 'EI[Identifier-Organization]', rows: '3, 4' },
  { map: 'EI[Identifier-System]', rows: '3-5' },
  { map: 'EIP[Identifier-PlacerAssignedIdentifier]', rows: '3' },
  { map: 'FN[HumanName]', rows: '3-11' },
  { map: 'HD[uri]', rows: '3-6' },
  { map: 'HD[Organization]', rows: '3' },
  { map: 'ID[CodeableConcept]', rows: '3' },
  { map: 'IS[CodeableConcept]', rows: '3' },
  { map: 'NM[Quantity]', rows: '3' },
  { map: 'NR[Range]', rows: '3, 4' },
  { map: 'OG[Extension-Subidentifier]', rows: '3-10' },
  { map: 'RP[Attachment]', rows: '3, 5' },
  { map: 'SAD[Address]', rows: '3-5' },
  { map: 'SN[Quantity]', rows: '5, 6' },
  { map: 'SN[Range]', rows: '3, 4, 6, 8' },
  { map: 'SN[Ratio]', rows: '5, 6, 8' },
  { map: 'ST[CodeableConcept]', rows: '3' },
  { map: 'ST[Identifier]', rows: '3' },
  { map: 'TS[dateTime]', rows: '3' },
  { map: 'XAD[Address]', rows: '3-12, 17-19, 21-23, 28' },
  { map: 'XCN[Practitioner]', rows: '3-9, 11, 12, 18' },
  { map: 'CNN[Practitioner]', rows: '3-8' },
  { map: 'NDL[PractitionerRole]', rows: '3' },
  { map: 'XON[Organization]', rows: '3, 5, 10-13, 16' },
  { map: 'XON[string]', rows: '3, 13' },
  { map: 'XPN[HumanName]', rows: '3-9, 12-19' },
  { map: 'XPN[string]', rows: '3' },
  { map: 'XTN[ContactPoint]', rows: '3-6, 8-20, 24-26, 30' },
];

const NO_OTHER_TYPE = 'the gateway keeps no resource of that type';
const NO_EXTENSION = 'the guide names no extension that exists';
const NOT_IN_REFERENCE = 'a reference has no place for it, and the gateway keeps no Practitioner or Organization';

/** Maps of the guide to types that the gateway keeps, which it follows in nothing. */
export const NOT_BEGUN: readonly { readonly map: string; readonly reason: string }[] = [
  { map: 'PD1[Observation-LivingWill]', reason: 'a living will is no result: PD1-7 is kept with the message' },
  { map: 'PRT[Observation-Location]', reason: 'PRT is of v2.7: it is kept with the message, and named' },
  {
    map: 'PRT[Patient-GeneralPractitioner-Practitioner]',
    reason: 'PRT is of v2.7: it is kept with the message, and named',
  },
  {
    map: 'PRT[Patient-GeneralPractitioner-PractitionerRole]',
    reason: 'PRT is of v2.7: it is kept with the message, and named',
  },
  { map: 'ROL[Patient-GeneralPractitioner]', reason: 'PD1-4 says who it is; ROL is kept with the message, and named' },
];

export const LEFT_OUT: readonly LeftOut[] = [
  { map: 'NK1[Patient]', rows: '33-35', reason: NOT_IN_REFERENCE },
  { map: 'PID[Patient]', rows: '32', reason: 'the jurisdiction is not known: SS, as for PID-19 in the base table' },
  { map: 'PID[Patient]', rows: '36', reason: NO_OTHER_TYPE },
  { map: 'PID[Patient]', rows: '45, 51', reason: NO_EXTENSION },
  {
    map: 'AL1[AllergyIntolerance]',
    rows: '14',
    reason: 'severity is taken as criticality, the other choice of the guide',
  },
  {
    map: 'IAM[AllergyIntolerance]',
    rows: '11',
    reason: 'severity is taken as criticality, the other choice of the guide',
  },
  {
    map: 'IAM[AllergyIntolerance]',
    rows: '26-28',
    reason: 'a recorder who is a relative or the patient: no RelatedPerson is kept',
  },
  { map: 'IAM[AllergyIntolerance]', rows: '40', reason: 'IAM-27 is of v2.9' },
  {
    map: 'OBX[Observation]',
    rows: '25',
    reason: 'SampledData needs a period that v2 does not send: the samples are kept as text',
  },
  { map: 'OBX[Observation]', rows: '52, 54, 55, 65-67', reason: NOT_IN_REFERENCE },
  { map: 'OBX[Observation]', rows: '76-78', reason: 'the guide itself does not use it yet' },
  { map: 'OBX[Observation]', rows: '81-84', reason: 'several specimens need a Group, which the gateway does not keep' },
  {
    map: 'OBX[Observation-Component]',
    rows: '29, 33',
    reason: 'whether other observations are derived from a document is not known from the message',
  },
  {
    map: 'OBX[Observation-Component]',
    rows: '40',
    reason: 'the range holds for all components: it stands once, in Observation.referenceRange',
  },
  { map: 'OBX[Observation-Component]', rows: '54', reason: 'OBX-15 is a performer, as in OBX[Observation] 51' },
  { map: 'OBX[Observation-Component]', rows: '56, 57, 67-69', reason: NOT_IN_REFERENCE },
  { map: 'OBX[Observation-Component]', rows: '78-80', reason: 'the guide itself does not use it yet' },
  {
    map: 'OBX[Observation-Component]',
    rows: '83-86',
    reason: 'several specimens need a Group, which the gateway does not keep',
  },
  {
    map: 'OBX[DocumentReference]',
    rows: '9, 12',
    reason:
      'text/hl7v2 and application/text are no registered media types: the text, its escapes resolved, is text/plain',
  },
  { map: 'NTE[Observation]', rows: '6', reason: NO_EXTENSION },
  {
    map: 'NTE[DocumentReference]',
    rows: '6',
    reason: 'text/hl7v2 is no registered media type: the note is text/plain',
  },
  { map: 'NTE[DocumentReference]', rows: '12', reason: 'NTE-9 is of v2.9' },
  { map: 'TXA[DocumentReference]', rows: '10, 11', reason: 'an extension of R6' },
  { map: 'ORC[DiagnosticReport]', rows: '7', reason: NO_OTHER_TYPE },
  {
    map: 'ORC[DiagnosticReport]',
    rows: '11, 12',
    reason: 'the number of a group of orders: it would find several reports as one',
  },
  { map: 'ORC[DiagnosticReport]', rows: '18', reason: NO_EXTENSION },
  { map: 'ORC[DiagnosticReport]', rows: '25, 26', reason: 'about the order, not about the report' },
  {
    map: 'ORC[DiagnosticReport]',
    rows: '38',
    reason: 'the gateway does not enforce labels, and must not look as if it did',
  },
  { map: 'CX[Identifier]', rows: '11', reason: NO_EXTENSION },
  { map: 'ED[Attachment]', rows: '4, 5', reason: 'ED.2 is the first half of the media type' },
  {
    map: 'EI[Identifier-Extension]',
    rows: '4-6',
    reason: 'system and assigner, as for a CX: the guide names no extension that exists',
  },
  { map: 'EI[Identifier-Organization]', rows: '5, 6', reason: 'the universal id makes the system' },
  { map: 'EI[Identifier-System]', rows: '6', reason: 'the kind of the universal id is seen in the system' },
  {
    map: 'EIP[Identifier-PlacerAssignedIdentifier]',
    rows: '4, 5',
    reason: 'a specimen is referred to by the value alone',
  },
  { map: 'HD[Organization]', rows: '4-6', reason: 'the universal id makes the system' },
  {
    map: 'NA[SampledData]',
    rows: '3-7',
    reason: 'SampledData needs a period that v2 does not send: the samples are kept as text',
  },
  {
    map: 'SN[Quantity]',
    rows: '3, 4',
    reason: 'a structured numeric with more than a comparator and a number is kept as text',
  },
  { map: 'SN[Ratio]', rows: '3, 4', reason: 'the ratio says all there is' },
  { map: 'XAD[Address]', rows: '13-15', reason: 'the extension has no url in the guide' },
  { map: 'XCN[Practitioner]', rows: '13-17, 19, 22-27', reason: NOT_IN_REFERENCE },
  { map: 'CNN[Practitioner]', rows: '9, 11-13', reason: NOT_IN_REFERENCE },
  { map: 'NDL[PractitionerRole]', rows: '4-41', reason: NOT_IN_REFERENCE },
  { map: 'XON[Organization]', rows: '4, 6-9, 14', reason: NOT_IN_REFERENCE },
  {
    map: 'XTN[ContactPoint]',
    rows: '7',
    reason: 'a number in a field that is named a phone number is one: `phone` instead of an unknown system',
  },
  { map: 'XTN[ContactPoint]', rows: '21', reason: NO_EXTENSION },
];
