/** Rows of code tables as members of JSON and columns of CSV, and the check of their values. */
import * as z from 'zod';

import { EQUIVALENCES, type Equivalence } from '../../store/code-table.ts';
import { ROW_COLUMNS, type TableRow } from '../../store/admin-code-table.ts';
import { sourceSystem } from '../../store/coding-systems.ts';

/** A member of a row that is wrong. */
export interface RowFault {
  readonly member: keyof TableRow;
  readonly message: string;
}

/** An index entry of PostgreSQL has 2,704 bytes at most. */
const MOST: Readonly<Record<keyof TableRow, number>> = {
  system: 100,
  code: 200,
  application: 200,
  facility: 200,
  targetSystem: 300,
  targetCode: 200,
  display: 500,
  equivalence: 20,
};

const DESCRIPTIONS: Readonly<Record<keyof TableRow, string>> = {
  system:
    'The coding system as messages name it: `99LAB`, or an HL7 table, `HL70078`. `L`, or empty, also stands for codes without a system.',
  code: 'As sent. Upper and lower case differ.',
  application: 'MSH-3.1 of the only sender that the row is for. Empty: any.',
  facility: 'MSH-4.1 of the only sender that the row is for. Empty: any.',
  targetSystem: 'A URI: `http://snomed.info/sct`.',
  targetCode: 'Empty, like `targetSystem`, for `unmatched`.',
  display: 'The text of the target code.',
  equivalence:
    'The relationship of the target to the code, of FHIR’s concept-map-equivalence. Only `equal` and `equivalent` targets are added to resources.',
};

const text = (name: keyof TableRow) => z.string().default('').meta({ description: DESCRIPTIONS[name] });

/** As sent: `readRow` checks the values. */
export const rowBody = z.strictObject({
  system: text('system'),
  code: text('code'),
  application: text('application'),
  facility: text('facility'),
  targetSystem: text('targetSystem'),
  targetCode: text('targetCode'),
  display: text('display'),
  equivalence: z.string().default('equivalent').meta({ description: DESCRIPTIONS.equivalence }),
});
export type SentRow = z.infer<typeof rowBody>;

export const rowItem = z.object({ ...rowBody.shape, equivalence: z.enum(EQUIVALENCES) });

const isEquivalence = (value: string): value is Equivalence => EQUIVALENCES.some((each) => each === value);

/** FHIR R4, uri: a scheme, and no white space. */
const URI = /^[a-z][a-z0-9+.-]*:\S+$/i;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Returns the row as it is stored, or its faults. White space around values does not count. */
export function readRow(sent: SentRow): TableRow | readonly RowFault[] {
  const row = Object.fromEntries(ROW_COLUMNS.map((name) => [name, sent[name].trim()])) as Record<
    keyof TableRow,
    string
  >;
  row.code = row.code.replaceAll(/\s+/g, ' ');
  row.system = sourceSystem(row.system === '' ? undefined : row.system);
  const faults: RowFault[] = [];
  const fault = (member: keyof TableRow, message: string): void => void faults.push({ member, message });
  for (const name of ROW_COLUMNS) {
    if (row[name].length > MOST[name]) fault(name, `has more than ${MOST[name]} characters`);
    if (CONTROL.test(row[name])) fault(name, 'has a control character');
  }
  if (row.code === '') fault('code', 'is empty');
  const { equivalence } = row;
  if (!isEquivalence(equivalence)) {
    fault('equivalence', `must be one of ${EQUIVALENCES.join(', ')}`);
    return faults;
  }
  if (equivalence === 'unmatched') {
    const member = row.targetCode === '' ? 'targetSystem' : 'targetCode';
    if (row[member] !== '') fault(member, 'must be empty, because unmatched has no target');
  } else {
    if (!URI.test(row.targetSystem)) fault('targetSystem', 'must be a URI, such as http://snomed.info/sct');
    if (!/^\S+( \S+)*$/.test(row.targetCode)) fault('targetCode', 'must be a code without white space around it');
  }
  return faults.length > 0 ? faults : { ...row, equivalence };
}
