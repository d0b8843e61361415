/** The messages and resources of senders, for the load and for the measurement. */

export interface Person {
  readonly mrn: string;
  readonly family: string;
  readonly given: string;
  /** YYYY-MM-DD */
  readonly birthDate: string;
}

export interface Result {
  /** A LOINC code. */
  readonly code: string;
  readonly name: string;
  /** A number as text. */
  readonly value: string;
}

export interface MessageHead {
  readonly control: string;
  readonly at: Date;
}

/** The assigning authority of the identifiers. */
export const SYSTEM = 'urn:oid:1.2.276.0.76.3.1.99';
const AUTHORITY = `&${SYSTEM.slice('urn:oid:'.length)}&ISO`;
const LOINC = 'http://loinc.org';

const two = (n: number): string => String(n).padStart(2, '0');
/** `20210304050607+0000` */
export const hl7Time = (at: Date): string =>
  `${at.getUTCFullYear()}${[at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join('')}+0000`;

const msh = ({ control, at }: MessageHead, type: string): string =>
  `MSH|^~\\&|PAS|EAST|GW|GW|${hl7Time(at)}||${type}|${control}|P|2.5.1`;
const pid = ({ mrn, family, given, birthDate }: Person, street: string): string =>
  `PID|1||${mrn}^^^${AUTHORITY}^MR||${family}^${given}||${birthDate.replaceAll('-', '')}|F|||${street}^^Town^^12345^DE`;

/** @param event A04, or A08 with another address */
export function adt(head: MessageHead, event: 'A04' | 'A08', person: Person): string {
  const street = event === 'A04' ? '1 First Street' : '2 Second Street';
  return `${[msh(head, `ADT^${event}^ADT_A01`), `EVN|${event}|${hl7Time(head.at)}`, pid(person, street), 'PV1|1|O'].join('\r')}\r`;
}

/** A message without PID-3, which the gateway rejects. */
export const refusedAdt = (head: MessageHead, { family, given }: Person): string =>
  `${[msh(head, 'ADT^A04^ADT_A01'), `EVN|A04|${hl7Time(head.at)}`, `PID|1||||${family}^${given}||19000101|F`, 'PV1|1|O'].join('\r')}\r`;

export function oru(
  head: MessageHead,
  person: Person,
  order: string,
  collected: Date,
  results: readonly Result[],
): string {
  const at = hl7Time(collected);
  const obx = results.map(
    ({ code, name, value }, n) => `OBX|${n + 1}|NM|${code}^${name}^LN||${value}|mg/dL|1-99|N|||F|||${at}`,
  );
  const obr = `OBR|1|P${order}|F${order}|24323-8^Panel^LN|||${at}|||||||||||||||${hl7Time(head.at)}|||F`;
  return `${[msh(head, 'ORU^R01^ORU_R01'), pid(person, '1 First Street'), obr, ...obx].join('\r')}\r`;
}

export const patientOf = ({ mrn, family, given, birthDate }: Person) => ({
  resourceType: 'Patient',
  identifier: [{ system: SYSTEM, value: mrn }],
  active: true,
  name: [{ family, given: [given] }],
  gender: 'female',
  birthDate,
});

const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

/** JSON text, in which numbers keep their digits. */
export const observationOf = (patient: string, at: Date, { code, name, value }: Result, status = 'final'): string =>
  `{"resourceType":"Observation","status":"${status}","category":[{"coding":[{"system":"${CATEGORY}","code":"vital-signs"}]}],` +
  `"code":{"coding":[{"system":"${LOINC}","code":"${code}","display":"${name}"}]},"subject":{"reference":"Patient/${patient}"},` +
  `"effectiveDateTime":"${at.toISOString().slice(0, 19)}Z","valueQuantity":{"value":${value},"unit":"mg/dL","system":"http://unitsofmeasure.org","code":"mg/dL"}}`;

export const transactionOf = (observations: readonly string[]): string =>
  `{"resourceType":"Bundle","type":"transaction","entry":[${observations
    .map((one) => `{"resource":${one},"request":{"method":"POST","url":"Observation"}}`)
    .join(',')}]}`;
