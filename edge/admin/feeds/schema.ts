/** Feeds as the JSON API answers them, and the page shows them. */
import * as z from 'zod';

import { USAGE_SURFACES } from '../../store/usage.ts';
import { alertItem } from '../alerts/listing.ts';

const instant = z.iso.datetime();
const count = z.number().int();

const sender = z.object({
  surface: z.enum(['fhir', 'hl7', 'mllp']),
  application: z
    .string()
    .meta({ description: 'MSH-3. Empty where it names none, or a key has more than twenty senders.' }),
  facility: z.string().meta({ description: 'MSH-4.' }),
  lastAt: instant.meta({ description: 'FHIR: the quarter of an hour of the last request.' }),
  today: z
    .object({ accepted: count, refused: count, rejected: count })
    .meta({ description: 'Since midnight on the site’s clocks: AA, AE, AR; of FHIR below 400, 4xx, 5xx.' }),
  refusedLately: count.meta({ description: 'Refused and rejected within about an hour.' }),
  lastHour: count.meta({ description: 'In the last four whole quarters of an hour.' }),
  verdict: z
    .enum(['usual', 'fewer', 'more', 'silent', 'too-new'])
    .nullable()
    .meta({ description: 'Against the same hour of the weeks, or of the seven days, before; null for FHIR.' }),
});

const feed = z.object({
  clientId: z.string(),
  name: z.string(),
  status: z.enum(['active', 'disabled']),
  protocols: z.array(z.string()),
  isWatched: z.boolean().meta({ description: 'Its silence is an alert, by a rule of its own.' }),
  senders: z.array(sender),
  refusals: count.meta({ description: 'Requests that were refused or failed in 24 hours, on any surface.' }),
  fault: z
    .object({ at: instant, surface: z.enum(USAGE_SURFACES), code: z.string(), reason: z.string() })
    .nullable()
    .meta({ description: 'The last of them; only with site.api_keys.read.' }),
});

const sidecar = z.object({
  issuer: z.string(),
  lastSeenAt: instant,
  isLate: z.boolean(),
  clockSeconds: count.nullable(),
  version: z.string().nullable().meta({ description: 'Of its release, as it says; null where it has not said.' }),
  connections: count.nullable().meta({ description: 'Over MLLP that were open when it last said so.' }),
});

export const feedsAnswer = z.object({
  health: z.object({ isUsual: z.boolean(), sentence: z.string() }),
  feeds: z.array(feed),
  isCut: z.boolean().meta({ description: 'There are more API keys than are looked at here: 300, by name.' }),
  sidecars: z.array(sidecar),
  alerts: z.array(alertItem).meta({ description: 'Those that are open, the newest ten.' }),
});
export type Feeds = z.infer<typeof feedsAnswer>;
export type Feed = Feeds['feeds'][number];
export type Sender = Feed['senders'][number];
