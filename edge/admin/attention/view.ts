/** An issue as the JSON API returns it. */
import * as z from 'zod';

import { ATTENTION_KINDS } from '../../store/attention.ts';
import { ATTENTION_STATES, type AttentionRow } from '../../store/admin-attention.ts';
import { whyListed } from './kinds.ts';
import { compare, PERSON_PARTS, personItem, viewPerson } from './person.ts';

const parts = z.array(z.enum(PERSON_PARTS));

export const attentionItem = z.object({
  id: z.uuid(),
  kind: z.enum(ATTENTION_KINDS),
  state: z.enum(ATTENTION_STATES),
  createdAt: z.iso.datetime(),
  why: z.string().meta({ description: 'A sentence for people.' }),
  detail: z.looseObject({}).meta({ description: 'Codes, ids and positions: `reason`, `at`.' }),
  patients: z.array(personItem).meta({ description: 'The current data of none, one or two patients.' }),
  agrees: parts.meta({ description: 'Parts of two patients with a common value.' }),
  differs: parts.meta({ description: 'Parts of two patients without a common value.' }),
  message: z
    .object({ messageId: z.uuid(), messageType: z.string(), controlId: z.string() })
    .nullable()
    .meta({ description: 'The first message that showed it.' }),
  dismissedAt: z.iso.datetime().nullable(),
  dismissedBy: z.string().nullable(),
});
export type AttentionView = z.infer<typeof attentionItem>;

const detailOf = z.looseObject({}).catch({});

export function viewAttention(row: AttentionRow): AttentionView {
  const detail = detailOf.parse(JSON.parse(row.detail));
  const people = [
    ...(row.patient_a === null ? [] : [viewPerson(row.patient_a, row.person_a)]),
    ...(row.patient_b === null ? [] : [viewPerson(row.patient_b, row.person_b)]),
  ];
  const [a, b] = people;
  const compared = a === undefined || b === undefined ? { agrees: [], differs: [] } : compare([a, b]);
  return {
    id: row.attention_id,
    kind: row.kind,
    state: row.state,
    createdAt: row.created_at,
    why: whyListed(
      row.kind,
      detail,
      [row.patient_a, row.patient_b].filter((id) => id !== null),
    ),
    detail,
    patients: people,
    ...compared,
    message:
      row.message_id === null
        ? null
        : { messageId: row.message_id, messageType: row.message_type ?? '', controlId: row.control_id ?? '' },
    dismissedAt: row.dismissed_at,
    dismissedBy: row.dismissed_by,
  };
}
