/** The go-live check list of an API key, filled in from stored rows (edge/store/check-list.ts). */
import * as z from 'zod';

import type { CheckListRow, SeenTypeRow } from './store/check-list.ts';

interface Step {
  readonly title: string;
  /** The next step of the integrator. */
  readonly todo: string;
}

const STEPS = {
  token: {
    title: 'The client got an access token',
    todo: 'Request an access token with a signed client assertion.',
  },
  fhir: { title: 'A FHIR request was answered', todo: 'Send a FHIR request with the access token.' },
  message: { title: 'A message got an ACK', todo: 'Send a message.' },
  types: {
    title: 'Each type of message was accepted',
    todo: 'Send a message of each type that you will send, until each is answered AA.',
  },
  ack: {
    title: 'The ACK was read',
    todo: 'Wait for the ACK of a message, and then send the next message. Do not send accepted bytes again and again.',
  },
  resend: {
    title: 'A message was sent again',
    todo: 'Send the bytes of a message again, as after a lost ACK. The answer is the ACK of the first time.',
  },
  'wrong-patient': {
    title: 'A message about a wrong patient was rejected',
    todo: 'Send a result with the identifier of one patient, and the name, birth date and sex of another one. Handle the AE.',
  },
} as const satisfies Readonly<Record<string, Step>>;
type StepName = keyof typeof STEPS;

const instant = z.iso.datetime().nullable();

/** The answer, for the client and for staff. */
export const checkList = z
  .object({
    steps: z.array(
      z.object({
        step: z.enum(Object.keys(STEPS) as [StepName, ...StepName[]]),
        title: z.string(),
        done: z.boolean(),
        at: instant.meta({ description: 'When it was seen; null: not seen, or the time is not known.' }),
        todo: z.string().nullable().meta({ description: 'Null for a step that is done.' }),
      }),
    ),
    types: z
      .array(
        z.object({
          type: z.string().meta({ description: 'MSH-9: type and event.' }),
          accepted: z.number().int(),
          rejected: z.number().int(),
          lastAt: z.iso.datetime(),
        }),
      )
      .meta({ description: 'The types of the newest 1,000 messages of the key, 50 at most.' }),
  })
  .meta({ description: 'The steps to a go-live, with those that the gateway has seen.' });
export type CheckList = z.infer<typeof checkList>;

type Seen = Pick<CheckList['steps'][number], 'done' | 'at'>;
const seenAt = (at: string | null): Seen => ({ done: at !== null, at });

/** @param row undefined for a key that was deleted */
export function viewCheckList(row: CheckListRow | undefined): CheckList {
  if (row === undefined) return { steps: [], types: [] };
  const types: SeenTypeRow[] = JSON.parse(row.types);
  const { protocols, accepted, repeated } = row;
  const sendsMessages = protocols.includes('hl7') || protocols.includes('hl7-mllp');
  const seen: readonly (readonly [StepName, Seen])[] = [
    ...(protocols.includes('fhir') || protocols.includes('hl7') ? [['token', seenAt(row.token_at)] as const] : []),
    ...(protocols.includes('fhir') ? [['fhir', seenAt(row.fhir_at)] as const] : []),
    ...(sendsMessages
      ? ([
          ['message', seenAt(row.message_at)],
          ['types', { done: types.length > 0 && types.every((type) => type.accepted > 0), at: null }],
          // A sender that does not read the ACK repeats what was accepted.
          ['ack', { done: row.is_followed && repeated < accepted, at: null }],
          ['resend', row.resent_at === null ? { done: repeated > 0, at: null } : seenAt(row.resent_at)],
          ['wrong-patient', seenAt(row.wrong_patient_at)],
        ] as const)
      : []),
  ];
  return {
    steps: seen.map(([step, { done, at }]) => {
      const { title, todo } = STEPS[step];
      return { step, title, done, at, todo: done ? null : todo };
    }),
    types: types.map(({ type, accepted, rejected, last_at: lastAt }) => ({ type, accepted, rejected, lastAt })),
  };
}
