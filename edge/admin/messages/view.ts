/** Messages as the JSON API and the pages show them. */
import * as z from 'zod';

import { isJsonObject, type JsonObject, parseJson } from '../../../shared/json.ts';
import { type Reading, ticketCopy } from '../../../shared/hl7/ticket-copy.ts';
import { listedName } from '../attention/person.ts';
import {
  type AttemptRow,
  MAX_SHOWN_RESOURCES,
  type MessageDetailRow,
  type MessageResourceRow,
} from '../../store/admin-message.ts';
import type { ListedRow, MessageRow } from '../../store/message-search.ts';
import type { AroundRow } from '../../store/message-around.ts';
import { fieldsByElement } from '../../store/provenance.ts';
import { elementDifferences } from '../../store/resource-differences.ts';
import type { RuleChange } from './message-replay.ts';
import { type Finding, viewAck, viewMessage } from './segments.ts';

/** PostgreSQL prints base64 in lines; `atob` ignores their ends. */
const decodeBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

export function viewMessageRow(row: MessageRow) {
  return {
    messageId: row.message_id,
    receivedAt: row.received_at,
    source: row.source,
    sourceAddress: row.source_address,
    tlsSubject: row.tls_subject,
    clientId: row.client_id,
    keyName: row.key_name,
    sendingApplication: row.sending_application,
    sendingFacility: row.sending_facility,
    controlId: row.control_id,
    messageType: row.message_type,
    outcome: row.outcome,
  };
}

/** A field that matches the patient of the filter. */
interface NamedPatient {
  readonly field: string;
  /** A number as it was sent; '' for a name. */
  readonly value: string;
  readonly authority: string;
}

/** The patient of a message: the record that it wrote, else as its PID names the patient. */
export interface ListedPatient {
  readonly reference: string | null;
  /** The record's name, else the folded words of PID-5; '' for none. */
  readonly name: string;
  /** The first PID-3 as it was sent, with its authority; '' for none. */
  readonly identifier: string;
  readonly authority: string;
}

const listedPatient = z.object({
  id: z.string().nullable(),
  name: z.unknown(),
  said: z.string().nullable(),
  number: z.string().nullable(),
  authority: z.string().nullable(),
});

function viewListedPatient(patient: string): ListedPatient {
  const { id, name, said, number, authority } = listedPatient.parse(JSON.parse(patient));
  return {
    reference: id === null ? null : `Patient/${id}`,
    name: listedName(name) || (said ?? '').trim(),
    identifier: number ?? '',
    authority: authority ?? '',
  };
}

/** A message in the log: also how long its first answer took, and what was wrong with it. */
export function viewListedMessage(row: ListedRow) {
  const finding: Finding | null = row.finding === null ? null : JSON.parse(row.finding);
  const named: NamedPatient[] | null = row.named === null ? null : JSON.parse(row.named);
  const patient = row.patient === null ? null : viewListedPatient(row.patient);
  return { ...viewMessageRow(row), tookMs: row.took_ms, warnings: row.warnings, finding, named, patient };
}
export type ListedMessage = ReturnType<typeof viewListedMessage>;

function viewAttempt(attempt: AttemptRow) {
  const { number, at, why, actor, comment, request_id: requestId, outcome, ack, errors } = attempt;
  const found: Finding[] = JSON.parse(errors);
  return {
    number,
    at,
    why,
    actor,
    comment,
    requestId,
    outcome,
    tookMs: attempt.took_ms,
    rulesVersion: attempt.rules_version,
    ack: viewAck(ack === null ? null : decodeBase64(ack)),
    errors: found,
  };
}
export type AttemptView = ReturnType<typeof viewAttempt>;

/** The view of a message whose bytes were deleted. */
const FORGOTTEN: ReturnType<typeof viewMessage> = {
  text: '',
  segments: [],
  moreSegments: 0,
  problem:
    'The bytes and answers of this message were deleted. The gateway still recognizes the same bytes if they are sent again.',
};

const parsed = (type: string, id: string, body: string): JsonObject => {
  const resource = parseJson(
    `{"resourceType":${JSON.stringify(type)},"id":${JSON.stringify(id)}${body === '' ? '' : `,${body}`}}`,
  );
  return isJsonObject(resource) ? resource : {};
};

/** A version that a message wrote, compared with the version before it; or a resource that it left as it was. */
function viewChange(row: MessageResourceRow) {
  const { type, id, version, current_version: currentVersion, is_long: isLong, is_forgotten: isForgotten } = row;
  const reference = `${type}/${id}`;
  const own = { reference, version, currentVersion, isLong, isForgotten };
  if (!row.is_written) return { ...own, change: 'unchanged', elements: [] } as const;
  const change = version === 1 ? 'created' : 'changed';
  if (isForgotten || row.after === null) return { ...own, change, elements: [] } as const;
  const before = row.before === null ? {} : parsed(type, id, row.before);
  const fields = fieldsByElement(row.elements);
  const elements = elementDifferences(before, parsed(type, id, row.after)).map((each) => ({
    ...each,
    fields: fields.get(each.element) ?? [],
  }));
  return { ...own, change, elements } as const;
}
export type ChangeView = ReturnType<typeof viewChange>;

/** @param raw base64 */
export function viewTicketCopy(raw: string, reading: Reading): string {
  return viewMessage(ticketCopy(decodeBase64(raw), reading), reading.charset).text;
}

const viewAround = ({ of, side, ...row }: AroundRow) => ({
  of,
  side,
  messageId: row.message_id,
  receivedAt: row.received_at,
  messageType: row.message_type,
  controlId: row.control_id,
  outcome: row.outcome,
});
export type AroundView = ReturnType<typeof viewAround>;

const documentsOf = (documents: string | null): ReadonlyMap<string, string> | undefined =>
  documents === null ? undefined : new Map(Object.entries<string>(JSON.parse(documents)));

export function viewMessageDetail(
  row: MessageDetailRow,
  resources: readonly MessageResourceRow[],
  attempts: readonly AttemptRow[],
  around: readonly AroundRow[],
) {
  const errors: Finding[] = JSON.parse(row.errors);
  const ack = row.ack === null ? null : decodeBase64(row.ack);
  const isForgotten = row.raw === null;
  const { text, segments, moreSegments, problem } =
    row.raw === null
      ? FORGOTTEN
      : viewMessage(decodeBase64(row.raw), row.default_charset, errors, documentsOf(row.documents));
  return {
    ...viewMessageRow(row),
    requestId: row.request_id,
    sha256: row.sha256,
    isForgotten,
    text,
    segments,
    moreSegments,
    problem,
    ack: viewAck(ack),
    errors,
    attemptCount: attempts.at(-1)?.number ?? 0,
    attempts: attempts.map(viewAttempt),
    resources: resources.slice(0, MAX_SHOWN_RESOURCES).map(viewChange),
    hasMoreResources: resources.length > MAX_SHOWN_RESOURCES,
    around: around.map(viewAround),
  };
}
export type MessageDetail = ReturnType<typeof viewMessageDetail> & { readonly ruleChanges: readonly RuleChange[] };
