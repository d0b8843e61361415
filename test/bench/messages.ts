/** The messages of senders. */

export interface Person {
  readonly mrn: string;
  readonly family: string;
  readonly given: string;
  /** YYYY-MM-DD */
  readonly birthDate: string;
  /** CX.4 of the identifier. */
  readonly authority?: string;
}

export interface MessageHead {
  readonly control: string;
  readonly at: Date;
}

/** `20210304050607+0000` */
const hl7Time = (at: Date): string => `${at.toISOString().slice(0, 19).replaceAll(/\D/g, '')}+0000`;

const msh = ({ control, at }: MessageHead, type: string): string =>
  `MSH|^~\\&|PAS|EAST|GW|GW|${hl7Time(at)}||${type}|${control}|P|2.5.1\r`;
const pid = ({ mrn, family, given, birthDate, authority = 'SITE' }: Person, street: string): string =>
  `PID|1||${mrn}^^^${authority}^MR||${family}^${given}||${birthDate.replaceAll('-', '')}|F|||${street}^^Town^^12345^DE\r`;

/** @param event A08 has another address than A04 */
export function adt(head: MessageHead, person: Person, event: 'A04' | 'A08' = 'A04'): string {
  const street = event === 'A04' ? '1 First Street' : '2 Second Street';
  return `${msh(head, `ADT^${event}^ADT_A01`)}EVN|${event}|${hl7Time(head.at)}\r${pid(person, street)}PV1|1|O\r`;
}

/** A message without PID-3, which the gateway rejects. */
export const adtWithoutNumber = (head: MessageHead): string =>
  `${msh(head, 'ADT^A04^ADT_A01')}PID|1||||Unknown^Una\rPV1|1|O\r`;

/** A report with a result of each LOINC code. */
export function oru(head: MessageHead, person: Person, collected: Date, codes: readonly string[]): string {
  const at = hl7Time(collected);
  const obr = `OBR|1|P${head.control}|F${head.control}|24323-8^Panel^LN|||${at}|||||||||||||||${hl7Time(head.at)}|||F\r`;
  const obx = codes.map((code, n) => `OBX|${n + 1}|NM|${code}^Measurement^LN||7${n}.50|mg/dL|1-99|N|||F|||${at}\r`);
  return `${msh(head, 'ORU^R01^ORU_R01')}${pid(person, '1 First Street')}${obr}${obx.join('')}`;
}
