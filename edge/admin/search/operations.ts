/** The search box over JSON. */
import * as z from 'zod';

import { viewListedMessage } from '../messages/view.ts';
import { listedItem } from '../messages/operations.ts';
import { MAX_COUNTED } from '../../store/message-candidates.ts';
import { personItem } from '../attention/person.ts';
import { type Operation, operation } from '../api/operation.ts';
import { requestItem, viewRequest } from '../requests/view.ts';
import { findAnything, type Findings, type Found, NEEDED, SEARCH_PERMISSIONS, searchBody } from './find.ts';

const group = <Item extends z.ZodType>(item: Item, description: string) =>
  z
    .object({ items: z.array(item), isMore: z.boolean() })
    .nullable()
    .meta({ description: `${description} Null without the permission.` });

const messages = (description: string) =>
  z
    .object({ items: z.array(listedItem), isMore: z.boolean(), count: z.number().int() })
    .nullable()
    .meta({ description: `${description} \`count\` is ${MAX_COUNTED + 1} for more. Null without the permission.` });

const searchAnswer = z.object({
  patients: group(personItem.extend({ isMerged: z.boolean() }), 'By identifier, id, or a part of each name.'),
  resources: group(
    z.object({ reference: z.string(), patient: z.string().nullable() }),
    'Other resources by id or identifier, and a message by its id (`Hl7Message/…`).',
  ),
  patientMessages: messages('Messages that name the patient.'),
  messages: messages('Messages by control id or sender, in part, or by request id.'),
  apiKeys: group(
    z.object({ clientId: z.string(), name: z.string(), status: z.enum(['active', 'disabled']) }),
    'By name or Client ID, in part.',
  ),
  requests: group(requestItem, 'Rejected and failed requests by request id.'),
});

const viewed = <Item, View>({ items, ...rest }: Found<Item>, view: (item: Item) => View) => ({
  ...rest,
  items: items.map(view),
});

export const viewThing = ({ type, id, patient_id: patient }: Findings['resources']['items'][number]) => ({
  reference: `${type}/${id}`,
  patient: patient === null ? null : `Patient/${patient}`,
});

export const searchOperations = (): Operation[] => [
  operation('post', '/search', SEARCH_PERMISSIONS, {
    summary: 'Find what a text is an identifier, a name or an id of',
    description: 'The text is in the body, because it may be patient data. The audit records the search without it.',
    body: searchBody,
    answer: searchAnswer,
    async handle({ body: { text }, ...caller }) {
      const found = await findAnything(caller, text);
      const may = (kind: keyof Findings) => caller.actor.permissions.has(NEEDED[kind]);
      return {
        patients: may('patients') ? found.patients : null,
        resources: may('resources') ? viewed(found.resources, viewThing) : null,
        patientMessages: may('patientMessages') ? viewed(found.patientMessages, viewListedMessage) : null,
        messages: may('messages') ? viewed(found.messages, viewListedMessage) : null,
        apiKeys: may('apiKeys')
          ? viewed(found.apiKeys, ({ client_id: clientId, name, status }) => ({ clientId, name, status }))
          : null,
        requests: may('requests') ? viewed(found.requests, viewRequest) : null,
      };
    },
  }),
];
