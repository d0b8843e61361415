/**
 * How fast a message is read, ours against `@medplum/core` in the same run: a typical ADT of which some 25 fields are
 * read, and an ORU with 200 OBX of which six fields each are. Both take turns, so that a busy machine does not decide.
 */
import { Hl7Message } from '@medplum/core';
import { readMessage, type Message } from '../../shared/hl7/message.ts';
import { parsePath, readPath } from '../stack/tools/hl7-path.ts';
import { valueAt } from '../../shared/hl7/value.ts';
import { inRounds, median, ratios } from './rounds.ts';

export interface Row {
  readonly name: string;
  /** Messages a second. */
  readonly ours: number;
  readonly medplum: number;
  readonly ratio: number;
}

const ADT = [
  'MSH|^~\\&|ADT1|GOOD HEALTH HOSPITAL|GHH LAB, INC.|GOOD HEALTH HOSPITAL|198808181126|SECURITY|ADT^A01^ADT_A01|MSG00001|P|2.5.1',
  'EVN|A01|200708181123||',
  'PID|1||PATID1234^5^M11^ADT1^MR^GOOD HEALTH HOSPITAL~123456789^^^USSSA^SS||EVERYMAN^ADAM^A^III||19610615|M||C|2222 HOME STREET^^GREENSBORO^NC^27401-1020|GL|(555) 555-2004|(555)555-2004||S||PATID12345001^2^M10^ADT1^AN^A|444333333|987654^NC',
  'NK1|1|NUCLEAR^NELDA^W|SPO^SPOUSE||||NK^NEXT OF KIN',
  'PV1|1|I|2000^2012^01||||004777^ATTEND^AARON^A|||SUR||||ADM|A0|',
  'AL1|1|DA|1545^PENICILLIN^L|MO|HIVES',
  'DG1|1|I9|1550^MAL NEO LIVER, PRIMARY^I9|MAL NEO LIVER, PRIMARY^MAL NEO LIVER, PRIMARY|19880501103005|F',
  'PR1|1|I9|0151^COMMON DUCT EXPLOR^I9||19880501||||||004777^ATTEND^AARON^A',
  '',
].join('\r');

// Segment, then field and component of each value.
const ADT_FIELDS: readonly (readonly [string, readonly (readonly [number, number])[]])[] = [
  [
    'MSH',
    [
      [3, 1],
      [4, 1],
      [7, 1],
      [9, 1],
      [9, 2],
      [10, 1],
      [11, 1],
      [12, 1],
    ],
  ],
  [
    'PID',
    [
      [3, 1],
      [3, 4],
      [3, 5],
      [5, 1],
      [5, 2],
      [5, 3],
      [7, 1],
      [8, 1],
      [11, 1],
      [11, 3],
      [11, 4],
      [11, 5],
      [13, 1],
      [14, 1],
    ],
  ],
  ['AL1', [[3, 1]]],
  ['DG1', [[3, 1]]],
  ['PR1', [[3, 1]]],
];
const OBX_FIELDS = [2, 3, 5, 6, 8, 11];

const ORU = [
  'MSH|^~\\&|LAB|HOSP|EHR|HOSP|20260102030405+0100||ORU^R01^ORU_R01|42|P|2.5.1',
  'PID|1||PATID1234^^^HOSP^MR||EVERYMAN^ADAM||19610615|M',
  'OBR|1|P1|F1|24331-1^Lipid panel^LN|||20260102030000+0100|||||||||||||||20260102030400+0100|||F',
  ...Array.from(
    { length: 200 },
    (_, at) =>
      `OBX|${at + 1}|NM|${2000 + at}-3^Analyte ${at}^LN^L${at}^local^99LAB||${at}.50|mmol/L^mmol per litre^UCUM|0.5-200.0|N|||F|||20260102030400+0100`,
  ),
  '',
].join('\r');

// Both give the text of each position; the lengths are summed so that no reading can be optimised away.
function oursAdt(): number {
  return sumAdt(readMessage(ADT));
}
function sumAdt(message: Message): number {
  let sum = 0;
  for (const [id, positions] of ADT_FIELDS) {
    const segment = message.first(id);
    if (segment === undefined) continue;
    for (const [field, component] of positions) sum += valueAt(segment, field, 1, component)?.length ?? 0;
  }
  return sum;
}
const bytes = new TextEncoder().encode(ADT);
const oursAdtFromBytes = (): number => sumAdt(readMessage(bytes));

const paths = ADT_FIELDS.flatMap(([id, positions]) =>
  positions.map(([field, component]) => parsePath(`${id}-${field}.${component}`)),
);
function oursAdtByPath(): number {
  const message = readMessage(ADT);
  let sum = 0;
  for (const path of paths) sum += readPath(message, path)?.length ?? 0;
  return sum;
}
function medplumAdt(): number {
  const message = Hl7Message.parse(ADT);
  let sum = 0;
  for (const [id, positions] of ADT_FIELDS) {
    const segment = message.getSegment(id);
    if (segment === undefined) continue;
    for (const [field, component] of positions) sum += segment.getComponent(field, component, 0, 0).length;
  }
  return sum;
}
function oursOru(): number {
  let sum = 0;
  for (const obx of readMessage(ORU).named('OBX')) {
    for (const field of OBX_FIELDS) sum += valueAt(obx, field)?.length ?? 0;
  }
  return sum;
}
function medplumOru(): number {
  let sum = 0;
  for (const obx of Hl7Message.parse(ORU).getAllSegments('OBX')) {
    for (const field of OBX_FIELDS) sum += obx.getComponent(field, 1, 0, 0).length;
  }
  return sum;
}

const CASES = [
  { name: 'ADT, 25 values', ours: oursAdt, medplum: medplumAdt, rounds: 3000 },
  { name: 'ADT from bytes', ours: oursAdtFromBytes, medplum: medplumAdt, rounds: 3000 },
  { name: 'ADT by path', ours: oursAdtByPath, medplum: medplumAdt, rounds: 3000 },
  { name: 'ORU, 200 OBX, 1,200 values', ours: oursOru, medplum: medplumOru, rounds: 100 },
];

const ROUNDS = 40;

/** Measures every case; some twelve seconds. Throws when the two do not read the same. */
export async function bench(): Promise<Row[]> {
  const figures = await inRounds(
    ROUNDS,
    CASES.map(({ name, ours, medplum, rounds }) => async () => {
      if (ours() !== medplum()) throw new Error(`${name}: the readers differ`);
      return { ours: ratePerSecond(ours, rounds), medplum: ratePerSecond(medplum, rounds) };
    }),
  );
  return CASES.map(({ name }, index) => {
    const ours = figures[index]?.map((figure) => figure.ours) ?? [];
    const medplum = figures[index]?.map((figure) => figure.medplum) ?? [];
    const ratio = median(ratios(ours, medplum));
    return {
      name,
      ours: Math.round(median(ours)),
      medplum: Math.round(median(medplum)),
      ratio: Number(ratio.toFixed(2)),
    };
  });
}

function ratePerSecond(read: () => number, times: number): number {
  const start = performance.now();
  for (let at = 0; at < times; at += 1) read();
  return (times * 1000) / (performance.now() - start);
}
