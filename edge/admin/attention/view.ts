/** An issue as the JSON API returns it. */
import * as z from 'zod';

import { isJsonObject, objectsOf, parseJson, type Json, type JsonObject } from '../../../shared/json.ts';
import { ATTENTION_KINDS } from '../../store/attention.ts';
import { ATTENTION_STATES, type AttentionRow, MAX_COUNT, SHOWN_FINDINGS } from '../../store/admin-attention.ts';
import { KIND_TEXTS, NEXT_STEPS, whyListed } from './kinds.ts';
import { mergeMessage } from './merge-message.ts';
import { compare, PERSON_PARTS, personItem, readPerson, viewPerson } from './person.ts';

const parts = z.array(z.enum(PERSON_PARTS));
const text = z.string();

const findingItem = z.object({
  why: text.meta({ description: 'A sentence for people.' }),
  detail: z.looseObject({}).meta({ description: 'Codes, ids and positions: `reason`, `at`.' }),
  messageId: z.uuid().nullable().meta({ description: 'The first message that showed it.' }),
  resources: z
    .array(z.object({ reference: text, summary: text }))
    .meta({ description: 'The results that it concerns, with code, value and status.' }),
});

export const attentionItem = z.object({
  id: z.uuid(),
  kind: z.enum(ATTENTION_KINDS),
  state: z.enum(ATTENTION_STATES),
  subject: text.meta({ description: 'The namespace of an issue that has no patient; else empty.' }),
  foundAt: z.iso.datetime().meta({ description: 'When its newest finding was made. A repetition is not new.' }),
  why: text.meta({ description: 'A sentence for people, of the newest finding.' }),
  findings: z.array(findingItem).meta({ description: `The newest ${SHOWN_FINDINGS}.` }),
  findingCount: z.int().meta({ description: `${MAX_COUNT} for that many or more.` }),
  messageCount: z.int().meta({ description: `Messages that showed it; ${MAX_COUNT} for that many or more.` }),
  message: z
    .object({ messageId: z.uuid(), messageType: text, controlId: text })
    .nullable()
    .meta({ description: 'The newest message that showed it.' }),
  patients: z.array(personItem).meta({ description: 'The current data of none, one or two patients.' }),
  agrees: parts.meta({ description: 'Parts of two patients with a common value.' }),
  differs: parts.meta({ description: 'Parts of two patients without a common value.' }),
  next: z.object({
    step: z.enum(NEXT_STEPS).meta({
      description:
        '`merge`: hand one of `merges` to the registration system. `replay`: replay `message`. `decide-namespace`: confirm or ' +
        'reject a URI of the namespace. `ask-sender`: ask the sender of `message`.',
    }),
    text,
  }),
  merges: z
    .array(z.object({ survivor: text, merged: text, message: text.meta({ description: 'ADT A40, with CR.' }) }))
    .meta({ description: 'For `merge`: a message for each direction. The gateway does not send it.' }),
  dismissedAt: z.iso.datetime().nullable(),
  dismissedBy: text.nullable(),
  dismissedReason: text.nullable(),
  decisions: z
    .array(
      z.object({
        state: z.enum(['dismissed', 'reopened']),
        at: z.iso.datetime(),
        by: text.nullable().meta({ description: 'Null: a message showed something new of a dismissed issue.' }),
        reason: text,
      }),
    )
    .meta({ description: 'The newest first, twenty at most.' }),
});
export type AttentionView = z.infer<typeof attentionItem>;

const shownFindings = z.array(
  z.object({
    detail: z.looseObject({}),
    messageId: z.string().nullable(),
    resources: z.array(z.object({ reference: z.string(), body: z.string().nullable() })),
  }),
);
const uris = z.record(z.string(), z.string());

/** @param at an ISO instant, the time of the merge messages */
export function viewAttention(row: AttentionRow, at: string): AttentionView {
  const ids = [row.patient_a, row.patient_b].filter((id) => id !== null);
  const stored = [row.person_a, row.person_b].map(readPerson);
  const patients = ids.map((id, place) => viewPerson(id, stored[place] ?? {}));
  const [a, b] = patients;
  const compared = a === undefined || b === undefined ? { agrees: [], differs: [] } : compare([a, b]);
  const findings = shownFindings.parse(JSON.parse(row.shown)).map(({ detail, messageId, resources }) => ({
    why: whyListed(row.kind, detail, ids),
    detail,
    messageId,
    resources: resources.map(({ reference, body }) => ({ reference, summary: summaryOf(body) })),
  }));
  const { title, why, next, todo } = KIND_TEXTS[row.kind];
  return {
    id: row.issue_id,
    kind: row.kind,
    state: row.state,
    subject: row.subject,
    foundAt: row.found_at,
    why: findings[0]?.why ?? why ?? title,
    findings,
    findingCount: row.findings,
    messageCount: row.messages,
    message:
      row.message_id === null
        ? null
        : { messageId: row.message_id, messageType: row.message_type ?? '', controlId: row.control_id ?? '' },
    patients,
    ...compared,
    next: { step: next, text: todo },
    merges: next === 'merge' && row.state === 'open' ? mergesOf(row, ids, stored, at) : [],
    dismissedAt: row.dismissed_at,
    dismissedBy: row.dismissed_by,
    dismissedReason: row.dismissed_reason,
    decisions: attentionItem.shape.decisions.parse(JSON.parse(row.decisions)),
  };
}

function mergesOf(
  row: AttentionRow,
  [a, b]: readonly string[],
  [one = {}, other = {}]: readonly ReturnType<typeof readPerson>[],
  at: string,
): AttentionView['merges'] {
  if (a === undefined || b === undefined) return [];
  const sender = { application: row.sending_application ?? '', facility: row.sending_facility ?? '' };
  const namespaces = new Map(Object.entries(uris.parse(JSON.parse(row.authorities))).map(([name, uri]) => [uri, name]));
  const minute = at.slice(2, 16).replaceAll(/\D/g, '');
  const directions = [
    { survivor: a, merged: b, people: [one, other] },
    { survivor: b, merged: a, people: [other, one] },
  ] as const;
  return directions.flatMap(({ survivor, merged, people: [kept, gone] }) => {
    const controlId = `${row.issue_id.slice(0, 8)}${survivor === a ? 'A' : 'B'}${minute}`;
    const message = mergeMessage({ survivor: kept, merged: gone, controlId, at, sender, namespaces });
    return message === undefined ? [] : [{ survivor: `Patient/${survivor}`, merged: `Patient/${merged}`, message }];
  });
}

const MAX_SUMMARY = 120;

/** Code, value and status of a result. @param body null if the resource is too large to be read for a list */
function summaryOf(body: string | null): string {
  const content = body === null ? undefined : parseJson(`{${body}}`);
  if (!isJsonObject(content)) return '';
  const value = Object.entries(content).find(([name]) => /^value[A-Z]/.test(name))?.[1];
  const { status, code, type } = content;
  const said = [conceptText(code ?? type), valueOf(value), typeof status === 'string' ? status : ''];
  return said.filter((part) => part !== '').join(', ');
}

function valueOf(value: Json | undefined): string {
  if (typeof value === 'string') return value.length > MAX_SUMMARY ? `${value.slice(0, MAX_SUMMARY)} …` : value;
  if (!isJsonObject(value)) return '';
  const { value: number, unit, comparator } = value;
  if (number === undefined) return conceptText(value);
  return [`${printed(comparator)}${printed(number)}`, printed(unit)].join(' ').trim();
}

const printed = (value: Json | undefined): string =>
  value === undefined || value === null || typeof value === 'object' ? '' : String(value);

function conceptText(concept: Json | undefined): string {
  if (!isJsonObject(concept)) return '';
  const coding: JsonObject[] = objectsOf(concept['coding']);
  const [found] = [concept['text'], ...coding.flatMap(({ display, code }) => [display, code])].filter(
    (part) => typeof part === 'string' && part !== '',
  );
  return printed(found);
}
