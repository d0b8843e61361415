/**
 * Concept maps of the v2-to-FHIR guide, row by row (`HL7 Concept Map_ <name>`). Rows without a target are not listed: such a
 * code stays as sent.
 */
import { conceptMap, same } from './concept-map.ts';

/** AdministrativeSex */
export const ADMINISTRATIVE_SEX = conceptMap('HL70001', 'http://hl7.org/fhir/administrative-gender', {
  F: ['female', 'Female'],
  M: ['male', 'Male'],
  O: ['other', 'Other'],
  U: ['unknown', 'Unknown'],
  A: ['other', 'Other'],
  N: ['other', 'Other'],
});

/** MaritalStatus */
export const MARITAL_STATUS = conceptMap('HL70002', 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', {
  A: ['L', 'Legally Separated'],
  D: ['D', 'Divorced'],
  M: ['M', 'Married'],
  S: ['S', 'Never Married'],
  W: ['W', 'Widowed'],
  C: ['C', 'Common Law'],
  G: ['T', 'Domestic partner'],
  P: ['T', 'Domestic partner'],
  R: ['T', 'Domestic partner'],
  E: ['L', 'Legally Separated'],
  N: ['A', 'Annulled'],
  I: ['I', 'Interlocutory'],
  B: ['U', 'unmarried'],
  U: ['UNK', 'Unknown', 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor'],
  O: ['OTH', 'Other', 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor'],
  T: ['NAVU', 'Not available', 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor'],
});

/** Religion */
export const RELIGION = conceptMap('HL70006', 'http://terminology.hl7.org/CodeSystem/v3-ReligiousAffiliation', {
  A: ['1007', 'Atheism'],
  B: ['1009', 'Baptist'],
  E: ['1069', 'Episcopalian'],
  J: ['1026', 'Judaism'],
  L: ['1028', 'Lutheran'],
  M: ['1027', 'Latter Day Saints'],
  N: ['1020', 'Hinduism'],
  P: ['1077', 'Protestant'],
  AGN: ['1004', 'Agnosticism'],
  ATH: ['1007', 'Atheism'],
  BAH: ['1008', "Babi & Baha'I faiths"],
  BRE: ['1062', 'Brethren'],
  BMA: ['1029', 'Mahayana'],
  BTH: ['1051', 'Theravada'],
  CHR: ['1013', 'Christian (non-Catholic, non-specific)'],
  ANG: ['1005', 'Anglican'],
  AOG: ['1061', 'Assembly of God'],
  BAP: ['1009', 'Baptist'],
  CRR: ['1079', 'Reformed'],
  CHS: ['1063', 'Christian Scientist'],
  COC: ['1064', 'Church of Christ'],
  COG: ['1065', 'Church of God'],
  COL: ['1066', 'Congregational'],
  EOT: ['1068', 'Eastern Orthodox'],
  EPI: ['1069', 'Episcopalian'],
  FRQ: ['1071', 'Friends'],
  FUL: ['1072', 'Full Gospel'],
  JWN: ['1025', "Jehovah's Witnesses"],
  MOM: ['1027', 'Latter Day Saints'],
  LUT: ['1028', 'Lutheran'],
  MET: ['1073', 'Methodist'],
  NAZ: ['1075', 'Nazarene'],
  ORT: ['1036', 'Orthodox'],
  PEN: ['1038', 'Pentecostal'],
  PRE: ['1076', 'Presbyterian'],
  PRO: ['1077', 'Protestant'],
  PRC: ['1078', 'Protestant, No Denomination'],
  QUA: ['1071', 'Friends'],
  REC: ['1079', 'Reformed'],
  CAT: ['1041', 'Roman Catholic Church'],
  SAA: ['1080', 'Salvation Army'],
  SEV: ['1001', 'Adventist'],
  UCC: ['1082', 'United Church of Christ'],
  UNI: ['1052', 'Unitarian-Universalism'],
  UNU: ['1081', 'Unitarian Universalist'],
  CNF: ['1014', 'Confucianism'],
  DOC: ['1067', 'Disciples of Christ'],
  HSH: ['1020', 'Hinduism'],
  HVA: ['1020', 'Hinduism'],
  HOT: ['1020', 'Hinduism'],
  JAI: ['1024', 'Jainism'],
  MOS: ['1023', 'Islam'],
  MSH: ['1045', 'Shiite (Islam)'],
  MSU: ['1049', 'Sunni (Islam)'],
  NAM: ['1074', 'Native American'],
  SHN: ['1046', 'Shinto'],
  SIK: ['1047', 'Sikism'],
  SPI: ['1048', 'Spiritualism'],
});

/** NameType */
export const NAME_TYPE = conceptMap('HL70200', 'http://hl7.org/fhir/name-use', {
  BAD: ['old', 'Old'],
  D: ['usual', 'Usual'],
  L: ['official', 'Official'],
  M: ['maiden', 'Name changed for Marriage'],
  MSK: ['anonymous', 'Anonymous'],
  N: ['nickname', 'Nickname'],
  NAV: ['temp', 'temp'],
  R: ['official', 'Official'],
  TEMP: ['temp', 'Temp'],
});

/** AddressType[Type] */
export const ADDRESS_TYPE = conceptMap('HL70190', 'http://hl7.org/fhir/address-type', {
  M: ['postal', 'Postal'],
  SH: ['postal', 'Postal'],
});

/** AddressType[Use] */
export const ADDRESS_USE = conceptMap('HL70190', 'http://hl7.org/fhir/address-use', {
  BA: ['old', 'Old / Incorrect'],
  BI: ['billing', 'Billing'],
  C: ['temp', 'Temporary'],
  B: ['work', 'Work'],
  H: ['home', 'Home'],
  O: ['work', 'Work'],
});

/** TelecommunicationUseCode */
export const TELECOM_USE = conceptMap('HL70201', 'http://hl7.org/fhir/contact-point-use', {
  PRN: ['home', 'Home'],
  WPN: ['work', 'Work'],
  PRS: ['mobile', 'Mobile'],
});

/** AllergenType[AllergyIntoleranceCategory] */
export const ALLERGEN_CATEGORY = conceptMap('HL70127', 'http://hl7.org/fhir/allergy-intolerance-category', {
  DA: ['medication', 'Medication'],
  FA: ['food', 'Food'],
  EA: ['environment', 'Environment'],
  AA: ['biologic', 'Biologic'],
  PA: ['environment', 'Environment'],
  LA: ['environment', 'Environment'],
});

/** AllergenType[AllergyIntoleranceOriginalCategory] */
export const ALLERGEN_ORIGINAL = conceptMap(
  'HL70127',
  'http://terminology.hl7.org/CodeSystem/v2-0127',
  same({
    DA: 'Drug allergy',
    FA: 'Food allergy',
    MA: 'Miscellaneous allergy',
    MC: 'Miscellaneous contraindication',
    EA: 'Environmental allergy',
    AA: 'Animal allergy',
    PA: 'Plant allergy',
    LA: 'Pollen allergy',
  }),
);

/** AllergyType */
export const ALLERGY_TYPE = conceptMap('HL70127', 'http://hl7.org/fhir/allergy-intolerance-type', {
  DA: ['allergy', 'Allergy'],
  FA: ['allergy', 'Allergy'],
  MA: ['allergy', 'Allergy'],
  EA: ['allergy', 'Allergy'],
  AA: ['allergy', 'Allergy'],
  PA: ['allergy', 'Allergy'],
  LA: ['allergy', 'Allergy'],
});

/** AllergySeverity[AllergyIntolerance.criticality] */
export const ALLERGY_CRITICALITY = conceptMap('HL70128', 'http://hl7.org/fhir/allergy-intolerance-criticality', {
  SV: ['high', 'High Risk'],
  MI: ['low', 'Low Risk'],
});

/** AllergySeverity[AllergyIntolerance.criticality-original] */
export const ALLERGY_SEVERITY_ORIGINAL = conceptMap(
  'HL70128',
  'http://terminology.hl7.org/CodeSystem/v2-0128',
  same({
    SV: 'Severe',
    MO: 'Moderate',
    MI: 'Mild',
    U: 'Unknown',
  }),
);

/** NatureOfAbnormalTesting */
export const NATURE_OF_ABNORMAL_TESTING = conceptMap(
  'HL70080',
  'http://terminology.hl7.org/CodeSystem/v2-0080',
  same({
    A: 'An age-based population',
    N: 'None - generic normal range',
    R: 'A race-based population',
    S: 'A sex-based population',
    SP: 'Species',
    B: 'Breed',
    ST: 'Strain',
  }),
);

/** InterpretationCodes */
export const INTERPRETATION = conceptMap(
  'HL70078',
  'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation',
  same({
    '<': 'Off scale low',
    '>': 'Off scale high',
    A: 'Abnormal',
    AA: 'Critical abnormal',
    B: 'Better',
    CAR: 'Carrier',
    D: 'Significant change down',
    DET: 'Detected',
    E: 'Equivocal',
    EX: 'outside threshold',
    EXP: 'Expected',
    H: 'High',
    HH: 'Critical high',
    HU: 'Significantly high',
    I: 'Intermediate',
    IE: 'Insufficient evidence',
    IND: 'Indeterminate',
    L: 'Low',
    LL: 'Critical low',
    LU: 'Significantly low',
    MS: 'moderately susceptible',
    N: 'Normal',
    NCL: 'No CLSI defined breakpoint',
    ND: 'Not detected',
    NEG: 'Negative',
    NR: 'Non-reactive',
    NS: 'Non-susceptible',
    POS: 'Positive',
    R: 'Resistant',
    RR: 'Reactive',
    S: 'Susceptible',
    SDD: 'Susceptible-dose dependent',
    'SYN-R': 'Synergy - resistant',
    'SYN-S': 'Synergy - susceptible',
    U: 'Significant change up',
    VS: 'very susceptible',
    UNE: 'Unexpected',
    W: 'Worse',
    WR: 'Weakly reactive',
  }),
);

/** DiagnosticServiceSectionID */
export const DIAGNOSTIC_SERVICE_SECTION = conceptMap(
  'HL70074',
  'http://terminology.hl7.org/CodeSystem/v2-0074',
  same({
    AU: 'Audiology',
    BG: 'Blood Gases',
    BLB: 'Blood Bank',
    CG: 'Cytogenetics',
    CUS: 'Cardiac Ultrasound',
    CTH: 'Cardiac Catheterization',
    CT: 'CAT Scan',
    CH: 'Chemistry',
    CP: 'Cytopathology',
    EC: 'Electrocardiac (e.g., EKG,  EEC, Holter)',
    EN: 'Electroneuro (EEG, EMG,EP,PSG)',
    GE: 'Genetics',
    HM: 'Hematology',
    ICU: 'Bedside ICU Monitoring',
    IMM: 'Immunology',
    LAB: 'Laboratory',
    MB: 'Microbiology',
    MCB: 'Mycobacteriology',
    MYC: 'Mycology',
    NMS: 'Nuclear Medicine Scan',
    NMR: 'Nuclear Magnetic Resonance',
    NRS: 'Nursing Service Measures',
    OUS: 'OB Ultrasound',
    OT: 'Occupational Therapy',
    OTH: 'Other',
    OSL: 'Outside Lab',
    PHR: 'Pharmacy',
    PT: 'Physical Therapy',
    PHY: 'Physician (Hx. Dx, admission note, etc.)',
    PF: 'Pulmonary Function',
    RAD: 'Radiology',
    RX: 'Radiograph',
    RUS: 'Radiology Ultrasound',
    RC: 'Respiratory Care (therapy)',
    RT: 'Radiation Therapy',
    SR: 'Serology',
    SP: 'Surgical Pathology',
    TX: 'Toxicology',
    VUS: 'Vascular Ultrasound',
    VR: 'Virology',
    XRC: 'Cineradiograph',
  }),
);

/** DocumentConfidentialityStatus */
export const DOCUMENT_CONFIDENTIALITY = conceptMap(
  'HL70272',
  'http://terminology.hl7.org/CodeSystem/v2-0272',
  same({
    V: 'Very restricted',
    R: 'Restricted',
    U: 'Usual control',
  }),
);

/** YesNoIndicator */
export const YES_NO = conceptMap('HL70136', 'http://terminology.hl7.org/CodeSystem/special-values', {
  Y: ['true', ''],
  N: ['false', ''],
});

/** Relationship */
export const RELATIONSHIP = conceptMap('HL70063', 'http://terminology.hl7.org/CodeSystem/v3-RoleCode', {
  SEL: ['ONESELF', 'self'],
  SPO: ['SPS', 'spouse'],
  DOM: ['SIGOTHR', 'significant other'],
  CHD: ['CHILD', 'child'],
  GCH: ['GRNDCHILD', 'grandchild'],
  NCH: ['NCHILD', 'natural child'],
  SCH: ['STPCHLD', 'step child'],
  FCH: ['CHLDFOST', 'foster child'],
  DEP: ['DEP', 'Handicapped dependent', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  WRD: ['WRD', 'Ward of court', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  PAR: ['PRN', 'parent'],
  MTH: ['MTH', 'mother'],
  FTH: ['FTH', 'father'],
  CGV: ['CGV', 'Care giver', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  GRD: ['GRD', 'Guardian', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  GRP: ['GRPRN', 'grandparent'],
  EXF: ['EXT', 'extended family member'],
  SIB: ['SIB', 'sibling'],
  BRO: ['BRO', 'brother'],
  SIS: ['SIS', 'sister'],
  FND: ['FRND', 'unrelated friend'],
  OAD: ['OAD', 'Other adult', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  EME: ['EME', 'Employee', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  EMR: ['E', 'Employer', 'http://terminology.hl7.org/CodeSystem/v2-0131'],
  ASC: ['ASC', 'Associate', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  EMC: ['C', 'Emergency Contact', 'http://terminology.hl7.org/CodeSystem/v2-0131'],
  OWN: ['OWN', 'Owner', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  TRA: ['TRA', 'Trainer', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  MGR: ['MGR', 'Manager', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  NON: ['NON', 'None', 'http://terminology.hl7.org/CodeSystem/v2-0063'],
  UNK: ['U', 'Unknown', 'http://terminology.hl7.org/CodeSystem/v2-0131'],
  OTH: ['O', 'Other', 'http://terminology.hl7.org/CodeSystem/v2-0131'],
});

/** ContactRole */
export const CONTACT_ROLE = conceptMap('HL70131', 'http://terminology.hl7.org/CodeSystem/v2-0131', {
  E: ['E', 'Employer'],
  C: ['C', 'Emergency Contact'],
  F: ['F', 'Federal Agency'],
  I: ['I', 'Insurance Company'],
  N: ['N', 'Next-of-Kin'],
  S: ['S', 'State Agency'],
  O: ['O', 'Other'],
  U: ['U', 'Unknown'],
});
