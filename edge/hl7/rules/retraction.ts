/**
 * Segments and messages that correct or withdraw earlier data. A rule never drops or ignores them: the stored data would stay
 * as it is. A status counts as it was sent, and as a rule changed it.
 */
import type { EventRule } from '../mapping/tables/events.ts';
import { standingOfReport, standingOfResult } from '../precedence/standing.ts';
import type { EditedMessage, Line } from './edited-message.ts';
import { textIn } from './selection.ts';

/** By segment, a field and its codes that delete (HL7 v2.5.1 tables 0206, 0287, 0323, 0438, 0273). */
const DELETIONS: Readonly<Record<string, readonly (readonly [field: number, codes: readonly string[]])[]>> = {
  DG1: [[21, ['D']]],
  PR1: [[20, ['D']]],
  IAM: [
    [6, ['D']],
    [17, ['E']],
  ],
  PRB: [
    [1, ['DE']],
    [13, ['ENTERED-IN-ERROR']],
  ],
  TXA: [[19, ['CA']]],
};

/** @param orders as `ordersOf` */
export function isRetraction(edited: EditedMessage, line: Line, orders: readonly (Order | undefined)[]): boolean {
  const { id, index } = line.segment;
  if (id !== 'OBX' && id !== 'OBR' && id !== 'ORC') {
    const deletions = Object.hasOwn(DELETIONS, id) ? DELETIONS[id] : undefined;
    return (
      deletions?.some(([field, codes]) => statuses(edited, line, field).some((sent) => codes.includes(sent))) ?? false
    );
  }
  const { obr, orc } = orders[index] ?? {};
  const read = (from: Line | undefined, field: number): readonly string[] =>
    from === undefined ? [''] : statuses(edited, from, field);
  const reports = read(obr, 25).flatMap((report) => read(orc, 5).map((order) => standingOfReport(report, order)));
  const results = id === 'OBX' ? statuses(edited, line, 11) : [''];
  return reports.some((report) => results.some((result) => standingOfResult(result, report).isCorrection));
}

/** The status in capitals, as sent and as it is now. */
function statuses(edited: EditedMessage, line: Line, field: number): readonly string[] {
  const read = (raw: string): string => textIn(raw, 1, 1, edited.message).trim().toUpperCase();
  const now = read(edited.field(line, field));
  return line.fields === undefined ? [now] : [now, read(line.segment.field(field) ?? '')];
}

export interface Order {
  readonly obr: Line | undefined;
  /** The ORC before the OBR. */
  readonly orc: Line | undefined;
}

/** The order of each segment, by its index; undefined before the first. */
export function ordersOf(edited: EditedMessage): readonly (Order | undefined)[] {
  let order: Order | undefined;
  edited.spend(edited.lines.length >> 1);
  return edited.lines.map((line) => {
    const { id } = line.segment;
    if (id === 'PID') order = undefined;
    if (id === 'ORC') order = { obr: edited.isOrcBehindObr ? order?.obr : undefined, orc: line };
    if (id === 'OBR') order = { obr: line, orc: order?.obr === undefined ? order?.orc : undefined };
    return order;
  });
}

/** Cancellations (HL7 v2.5.1 §3.3.11 and others). */
const CANCELLATIONS: ReadonlySet<string> = new Set(
  'A11 A12 A13 A23 A25 A26 A27 A29 A32 A33 A38 A52 A53 A54 A55'.split(' '),
);

/** Checks for an event that moves, withdraws or replaces earlier data. */
const isWithdrawal = (triggerEvent: string, { patient, document, deletesProblems }: EventRule): boolean =>
  CANCELLATIONS.has(triggerEvent) ||
  (patient !== 'upsert' && patient !== 'ensure') ||
  document === 'cancel' ||
  document === 'replace' ||
  deletesProblems === true;

/** Checks that nothing is lost with a message but its own statements. @param rule undefined for a message that is not mapped */
export function mayBeIgnored(edited: EditedMessage, triggerEvent: string, rule: EventRule | undefined): boolean {
  if (rule !== undefined && isWithdrawal(triggerEvent, rule)) return false;
  if (edited.named('MRG').length > 0) return false;
  const orders = ordersOf(edited);
  edited.spend(edited.lines.length);
  return !edited.lines.some((line) => isRetraction(edited, line, orders));
}
