/** The data types of fields and the names of their components (HL7 v2.5.1 chapter 2A). */

/** By segment, the type of field 1 first (chapters 2, 3, 4, 6, 7, 9, 12; fields of v2.7 where senders use them). */
const FIELDS: Readonly<Record<string, string>> = {
  MSH: 'ST ST HD HD HD HD TS ST MSG ST PT VID NM ST ID ID ID ID CE ID EI',
  MSA: 'ID ST ST NM ID CE',
  ERR: 'ELD ERL CWE ID CWE ST TX TX IS CWE CWE XTN',
  EVN: 'ID TS TS IS XCN TS HD',
  PID: 'SI CX CX CX XPN XPN TS IS XPN CE XAD IS XTN XTN CE CE CE CX ST DLN CX CE ST ID NM CE CE CE TS ID ID IS TS HD CE CE ST IS CWE XTN',
  PD1: 'IS IS XON XCN IS IS IS IS ID CX CE ID DT XON CE IS DT DT IS IS IS',
  NK1: 'SI XPN CE XAD XTN XTN CE DT DT ST JCC CX XON CE IS TS IS IS CE CE IS CE ID IS CE XPN CE CE CE XPN XTN XAD CX IS CE IS ST ST IS XTN XTN',
  MRG: 'CX CX CX CX CX CX XPN',
  PV1: 'SI IS PL IS CX PL XCN XCN XCN IS PL IS IS IS IS IS XCN IS CX FC IS IS IS IS DT NM NM IS IS DT IS NM NM IS DT IS DLD CE IS IS IS PL PL TS TS NM NM NM NM CX IS XCN',
  PV2: 'PL CE CE CE ST ST IS TS TS NM NM ST XCN DT ID IS DT IS ID NM IS ID XON IS IS DT IS DT DT CE IS ID TS ID ID ID ID CE CE CE CE IS IS ID IS DT TS',
  AL1: 'SI CE CE CE ST DT',
  IAM: 'SI CE CE CE ST CNE EI ST CE CE DT ST TS XPN CE CE CE XCN XON TS',
  DG1: 'SI ID CE ST TS IS CE CE ID IS CE NM CP ST ID XCN IS ID TS EI ID',
  PR1: 'SI IS CE ST TS IS NM XCN IS NM XCN XCN CE ID CE CE IS CE EI ID',
  ORC: 'ID EI EI EI ID ID TQ EIP TS XCN XCN XCN PL XTN TS CE CE CE XCN CE XON XAD XTN XAD CWE CWE TS CWE CWE CNE CWE',
  OBR: 'SI EI EI CE ID TS TS TS CQ XCN ID CE ST TS SPS XCN XTN ST ST ST ST TS MOC ID ID PRL TQ XCN EIP ID CE NDL NDL NDL NDL TS NM CE CE CE ID ID CE CE CE CE CE CWE IS CWE',
  OBX: 'SI ID CE ST * CE ST IS NM ID ID TS ST TS CE XCN CE EI TS CWE EI CNE XON XAD XCN ID CWE CWE',
  NTE: 'SI ID FT CE',
  SPM: 'SI EIP EIP CWE CWE CWE CWE CWE CWE CWE CWE CQ NM ST CWE CWE DR TS TS ID CWE CWE CWE CWE CQ NM CWE CWE CWE',
  TXA: 'SI IS ID TS XCN TS TS TS XCN XCN XCN EI EI EI EI ST ID ID ID ID ST PPN XCN',
  PRB: 'ID TS CE EI EI NM TS TS TS CE CE CE CE CE TS TS ST CE CE NM CE CE CE ST CE',
  IN1: 'SI CE CX XON XAD',
  SFT: 'XON ST ST ST TX TS',
};

const CODED =
  'Identifier|Text|Name of Coding System|Alternate Identifier|Alternate Text|Name of Alternate Coding System';
const VERSIONED = `${CODED}|Coding System Version ID|Alternate Coding System Version ID|Original Text`;

/** By type, the name of component 1 first; a type that is not here has one component. */
const COMPONENTS: Readonly<Record<string, string>> = {
  CE: CODED,
  CNE: VERSIONED,
  CWE: VERSIONED,
  CX: 'ID Number|Check Digit|Check Digit Scheme|Assigning Authority|Identifier Type Code|Assigning Facility|Effective Date|Expiration Date|Assigning Jurisdiction|Assigning Agency or Department',
  XPN: 'Family Name|Given Name|Second and Further Given Names|Suffix|Prefix|Degree|Name Type Code|Name Representation Code|Name Context|Name Validity Range|Name Assembly Order|Effective Date|Expiration Date|Professional Suffix',
  XCN: 'ID Number|Family Name|Given Name|Second and Further Given Names|Suffix|Prefix|Degree|Source Table|Assigning Authority|Name Type Code|Identifier Check Digit|Check Digit Scheme|Identifier Type Code|Assigning Facility|Name Representation Code|Name Context|Name Validity Range|Name Assembly Order|Effective Date|Expiration Date|Professional Suffix|Assigning Jurisdiction|Assigning Agency or Department',
  XON: 'Organization Name|Organization Name Type Code|ID Number|Check Digit|Check Digit Scheme|Assigning Authority|Identifier Type Code|Assigning Facility|Name Representation Code|Organization Identifier',
  XAD: 'Street Address|Other Designation|City|State or Province|Zip or Postal Code|Country|Address Type|Other Geographic Designation|County/Parish Code|Census Tract|Address Representation Code|Address Validity Range|Effective Date|Expiration Date',
  XTN: 'Telephone Number|Telecommunication Use Code|Telecommunication Equipment Type|Email Address|Country Code|Area/City Code|Local Number|Extension|Any Text|Extension Prefix|Speed Dial Code|Unformatted Telephone Number',
  HD: 'Namespace ID|Universal ID|Universal ID Type',
  EI: 'Entity Identifier|Namespace ID|Universal ID|Universal ID Type',
  EIP: 'Placer Assigned Identifier|Filler Assigned Identifier',
  TS: 'Time|Degree of Precision',
  PL: 'Point of Care|Room|Bed|Facility|Location Status|Person Location Type|Building|Floor|Location Description|Comprehensive Location Identifier|Assigning Authority for Location',
  MSG: 'Message Code|Trigger Event|Message Structure',
  PT: 'Processing ID|Processing Mode',
  VID: 'Version ID|Internationalization Code|International Version ID',
  SN: 'Comparator|Num1|Separator/Suffix|Num2',
  ED: 'Source Application|Type of Data|Data Subtype|Encoding|Data',
  RP: 'Pointer|Application ID|Type of Data|Subtype',
  ERL: 'Segment ID|Segment Sequence|Field Position|Field Repetition|Component Number|Sub-Component Number',
  CQ: 'Quantity|Units',
  DR: 'Range Start Date/Time|Range End Date/Time',
  DLN: 'License Number|Issuing State, Province, Country|Expiration Date',
  FC: 'Financial Class Code|Effective Date',
  PRL: 'Parent Observation Identifier|Parent Observation Sub-identifier|Parent Observation Value Descriptor',
  NDL: 'Name|Start Date/Time|End Date/Time|Point of Care|Room|Bed|Facility|Location Status|Patient Location Type|Building|Floor',
};

const TYPES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(FIELDS).map(([segment, types]) => [segment, types.split(' ')]),
);

/** The type of a field; undefined where it is not known. @param valueType OBX-2, of which type OBX-5 is */
export function fieldType(segment: string, field: number, valueType: string): string | undefined {
  const type = TYPES.get(segment)?.[field - 1];
  return type === '*' ? valueType : type;
}

/** @returns null where the standard gives it no name, or it is the only one */
export function componentName(type: string | undefined, component: number): string | null {
  const names = type !== undefined && Object.hasOwn(COMPONENTS, type) ? COMPONENTS[type] : undefined;
  return names?.split('|')[component - 1] ?? null;
}
