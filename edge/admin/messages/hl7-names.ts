/** The names that HL7 v2.5.1 gives to segments and their fields (chapters 2, 3, 4, 6, 7, 9), for people who read messages. */

interface SegmentNames {
  readonly name: string;
  /** Field 1 first. */
  readonly fields: readonly string[];
}

const names = (name: string, fields: string): SegmentNames => ({ name, fields: fields.split('|') });

const SEGMENTS: Readonly<Record<string, SegmentNames>> = {
  MSH: names(
    'Message Header',
    'Field Separator|Encoding Characters|Sending Application|Sending Facility|Receiving Application|Receiving Facility|Date/Time Of Message|Security|Message Type|Message Control ID|Processing ID|Version ID|Sequence Number|Continuation Pointer|Accept Acknowledgment Type|Application Acknowledgment Type|Country Code|Character Set|Principal Language Of Message|Alternate Character Set Handling Scheme|Message Profile Identifier',
  ),
  SFT: names(
    'Software',
    'Software Vendor Organization|Software Certified Version or Release Number|Software Product Name|Software Binary ID|Software Product Information|Software Install Date',
  ),
  MSA: names(
    'Message Acknowledgment',
    'Acknowledgment Code|Message Control ID|Text Message|Expected Sequence Number|Delayed Acknowledgment Type|Error Condition',
  ),
  ERR: names(
    'Error',
    'Error Code and Location|Error Location|HL7 Error Code|Severity|Application Error Code|Application Error Parameter|Diagnostic Information|User Message|Inform Person Indicator|Override Type|Override Reason Code|Help Desk Contact Point',
  ),
  EVN: names(
    'Event Type',
    'Event Type Code|Recorded Date/Time|Date/Time Planned Event|Event Reason Code|Operator ID|Event Occurred|Event Facility',
  ),
  PID: names(
    'Patient Identification',
    "Set ID|Patient ID|Patient Identifier List|Alternate Patient ID|Patient Name|Mother's Maiden Name|Date/Time of Birth|Administrative Sex|Patient Alias|Race|Patient Address|County Code|Phone Number - Home|Phone Number - Business|Primary Language|Marital Status|Religion|Patient Account Number|SSN Number|Driver's License Number|Mother's Identifier|Ethnic Group|Birth Place|Multiple Birth Indicator|Birth Order|Citizenship|Veterans Military Status|Nationality|Patient Death Date and Time|Patient Death Indicator|Identity Unknown Indicator|Identity Reliability Code|Last Update Date/Time|Last Update Facility|Species Code|Breed Code|Strain|Production Class Code|Tribal Citizenship",
  ),
  PD1: names(
    'Patient Additional Demographic',
    'Living Dependency|Living Arrangement|Patient Primary Facility|Patient Primary Care Provider|Student Indicator|Handicap|Living Will Code|Organ Donor Code|Separate Bill|Duplicate Patient|Publicity Code|Protection Indicator|Protection Indicator Effective Date|Place of Worship|Advance Directive Code|Immunization Registry Status|Immunization Registry Status Effective Date|Publicity Code Effective Date|Military Branch|Military Rank/Grade|Military Status',
  ),
  NK1: names(
    'Next of Kin / Associated Parties',
    'Set ID|Name|Relationship|Address|Phone Number|Business Phone Number|Contact Role|Start Date|End Date|Job Title|Job Code/Class|Employee Number|Organization Name|Marital Status|Administrative Sex|Date/Time of Birth',
  ),
  MRG: names(
    'Merge Patient Information',
    'Prior Patient Identifier List|Prior Alternate Patient ID|Prior Patient Account Number|Prior Patient ID|Prior Visit Number|Prior Alternate Visit ID|Prior Patient Name',
  ),
  PV1: names(
    'Patient Visit',
    'Set ID|Patient Class|Assigned Patient Location|Admission Type|Preadmit Number|Prior Patient Location|Attending Doctor|Referring Doctor|Consulting Doctor|Hospital Service|Temporary Location|Preadmit Test Indicator|Re-admission Indicator|Admit Source|Ambulatory Status|VIP Indicator|Admitting Doctor|Patient Type|Visit Number|Financial Class|Charge Price Indicator|Courtesy Code|Credit Rating|Contract Code|Contract Effective Date|Contract Amount|Contract Period|Interest Code|Transfer to Bad Debt Code|Transfer to Bad Debt Date|Bad Debt Agency Code|Bad Debt Transfer Amount|Bad Debt Recovery Amount|Delete Account Indicator|Delete Account Date|Discharge Disposition|Discharged to Location|Diet Type|Servicing Facility|Bed Status|Account Status|Pending Location|Prior Temporary Location|Admit Date/Time|Discharge Date/Time|Current Patient Balance|Total Charges|Total Adjustments|Total Payments|Alternate Visit ID|Visit Indicator|Other Healthcare Provider',
  ),
  PV2: names(
    'Patient Visit - Additional Information',
    'Prior Pending Location|Accommodation Code|Admit Reason|Transfer Reason|Patient Valuables|Patient Valuables Location|Visit User Code|Expected Admit Date/Time|Expected Discharge Date/Time|Estimated Length of Inpatient Stay|Actual Length of Inpatient Stay|Visit Description',
  ),
  AL1: names(
    'Patient Allergy Information',
    'Set ID|Allergen Type Code|Allergen Code/Mnemonic/Description|Allergy Severity Code|Allergy Reaction Code|Identification Date',
  ),
  IAM: names(
    'Patient Adverse Reaction Information',
    'Set ID|Allergen Type Code|Allergen Code/Mnemonic/Description|Allergy Severity Code|Allergy Reaction Code|Allergy Action Code|Allergy Unique Identifier|Action Reason|Sensitivity to Causative Agent Code|Allergen Group Code/Mnemonic/Description|Onset Date|Onset Date Text|Reported Date/Time|Reported By|Relationship to Patient Code|Alert Device Code|Allergy Clinical Status Code|Statused by Person|Statused by Organization|Statused at Date/Time',
  ),
  DG1: names(
    'Diagnosis',
    'Set ID|Diagnosis Coding Method|Diagnosis Code|Diagnosis Description|Diagnosis Date/Time|Diagnosis Type|Major Diagnostic Category|Diagnostic Related Group|DRG Approval Indicator|DRG Grouper Review Code|Outlier Type|Outlier Days|Outlier Cost|Grouper Version And Type|Diagnosis Priority|Diagnosing Clinician|Diagnosis Classification|Confidential Indicator|Attestation Date/Time|Diagnosis Identifier|Diagnosis Action Code',
  ),
  PR1: names(
    'Procedures',
    'Set ID|Procedure Coding Method|Procedure Code|Procedure Description|Procedure Date/Time|Procedure Functional Type|Procedure Minutes|Anesthesiologist|Anesthesia Code|Anesthesia Minutes|Surgeon|Procedure Practitioner|Consent Code|Procedure Priority|Associated Diagnosis Code|Procedure Code Modifier|Procedure DRG Type|Tissue Type Code|Procedure Identifier|Procedure Action Code',
  ),
  ORC: names(
    'Common Order',
    'Order Control|Placer Order Number|Filler Order Number|Placer Group Number|Order Status|Response Flag|Quantity/Timing|Parent|Date/Time of Transaction|Entered By|Verified By|Ordering Provider|Enterer’s Location|Call Back Phone Number|Order Effective Date/Time|Order Control Code Reason|Entering Organization|Entering Device|Action By|Advanced Beneficiary Notice Code|Ordering Facility Name|Ordering Facility Address|Ordering Facility Phone Number|Ordering Provider Address|Order Status Modifier',
  ),
  OBR: names(
    'Observation Request',
    'Set ID|Placer Order Number|Filler Order Number|Universal Service Identifier|Priority|Requested Date/Time|Observation Date/Time|Observation End Date/Time|Collection Volume|Collector Identifier|Specimen Action Code|Danger Code|Relevant Clinical Information|Specimen Received Date/Time|Specimen Source|Ordering Provider|Order Callback Phone Number|Placer Field 1|Placer Field 2|Filler Field 1|Filler Field 2|Results Rpt/Status Chng - Date/Time|Charge to Practice|Diagnostic Serv Sect ID|Result Status|Parent Result|Quantity/Timing|Result Copies To|Parent|Transportation Mode|Reason for Study|Principal Result Interpreter|Assistant Result Interpreter|Technician|Transcriptionist|Scheduled Date/Time',
  ),
  OBX: names(
    'Observation/Result',
    'Set ID|Value Type|Observation Identifier|Observation Sub-ID|Observation Value|Units|References Range|Abnormal Flags|Probability|Nature of Abnormal Test|Observation Result Status|Effective Date of Reference Range|User Defined Access Checks|Date/Time of the Observation|Producer’s ID|Responsible Observer|Observation Method|Equipment Instance Identifier|Date/Time of the Analysis',
  ),
  NTE: names('Notes and Comments', 'Set ID|Source of Comment|Comment|Comment Type'),
  SPM: names(
    'Specimen',
    'Set ID|Specimen ID|Specimen Parent IDs|Specimen Type|Specimen Type Modifier|Specimen Additives|Specimen Collection Method|Specimen Source Site|Specimen Source Site Modifier|Specimen Collection Site|Specimen Role|Specimen Collection Amount|Grouped Specimen Count|Specimen Description|Specimen Handling Code|Specimen Risk Code|Specimen Collection Date/Time|Specimen Received Date/Time',
  ),
  TXA: names(
    'Transcription Document Header',
    'Set ID|Document Type|Document Content Presentation|Activity Date/Time|Primary Activity Provider Code/Name|Origination Date/Time|Transcription Date/Time|Edit Date/Time|Originator Code/Name|Assigned Document Authenticator|Transcriptionist Code/Name|Unique Document Number|Parent Document Number|Placer Order Number|Filler Order Number|Unique Document File Name|Document Completion Status|Document Confidentiality Status|Document Availability Status|Document Storage Status|Document Change Reason|Authentication Person, Time Stamp|Distributed Copies',
  ),
  IN1: names(
    'Insurance',
    'Set ID|Insurance Plan ID|Insurance Company ID|Insurance Company Name|Insurance Company Address',
  ),
};

const found = (id: string): SegmentNames | undefined => (Object.hasOwn(SEGMENTS, id) ? SEGMENTS[id] : undefined);

/** @returns null for a segment that is not in the table, such as a Z segment */
export function segmentName(id: string): string | null {
  return found(id)?.name ?? (id.startsWith('Z') ? 'Local segment' : null);
}

export function fieldName(id: string, field: number): string | null {
  return found(id)?.fields[field - 1] ?? null;
}
