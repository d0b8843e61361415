/** Feeds as the JSON API returns them and the page shows them. */
import * as z from 'zod';

import { USAGE_SURFACES } from '../../store/usage.ts';
import { alertItem } from '../alerts/listing.ts';
import { sourceItem } from './connections.ts';

const instant = z.iso.datetime();
const count = z.number().int();

const sender = z.object({
  surface: z.enum(['fhir', 'hl7', 'mllp']),
  application: z.string().meta({ description: 'MSH-3. Empty without one, or if a key has more than twenty senders.' }),
  facility: z.string().meta({ description: 'MSH-4.' }),
  lastAt: instant.meta({ description: 'For FHIR, the quarter of an hour of the last request.' }),
  today: z
    .object({ accepted: count, refused: count, rejected: count })
    .meta({ description: 'Since midnight at the site: AA, AE, AR; for FHIR statuses below 400, 4xx, 5xx.' }),
  refusedLately: count.meta({ description: 'AE and AR, or 4xx and 5xx, of the last hour.' }),
  lastHour: count.meta({ description: 'In the last four whole quarters of an hour.' }),
  isSingle: z
    .boolean()
    .meta({ description: 'It sent at one moment only. Beside other senders of its key it is never silent.' }),
  verdict: z
    .enum(['usual', 'fewer', 'more', 'silent', 'too-new'])
    .nullable()
    .meta({ description: 'Compared with the same hour of earlier weeks, or of the last seven days; null for FHIR.' }),
});

const feed = z.object({
  clientId: z.string(),
  name: z.string(),
  status: z.enum(['active', 'disabled']),
  protocols: z.array(z.string()),
  isWatched: z.boolean().meta({ description: 'The key has a rule for silence.' }),
  senders: z.array(sender),
  refusals: count.meta({ description: 'Requests that were rejected or failed in 24 hours, on all surfaces.' }),
  fault: z
    .object({ at: instant, surface: z.enum(USAGE_SURFACES), code: z.string(), reason: z.string() })
    .nullable()
    .meta({ description: 'The last of them; only with site.api_keys.read.' }),
  connections: z.array(sourceItem).meta({
    description: 'MLLP connections by source address, the newest first; at most 1,000 addresses of the site.',
  }),
});

const sidecar = z.object({
  issuer: z.string(),
  lastSeenAt: instant,
  isLate: z.boolean(),
  clockSeconds: count.nullable(),
  version: z.string().nullable().meta({ description: 'Its release; null if it did not report one.' }),
  connections: count.nullable().meta({ description: 'Open MLLP connections, as it last reported.' }),
});

export const feedsAnswer = z.object({
  health: z.object({ isUsual: z.boolean(), sentence: z.string() }),
  feeds: z.array(feed),
  isCut: z.boolean().meta({ description: 'There are more API keys than the 300 that are checked, by name.' }),
  sidecars: z.array(sidecar),
  alerts: z.array(alertItem).meta({ description: 'The newest ten open alerts.' }),
});
export type Feeds = z.infer<typeof feedsAnswer>;
export type Feed = Feeds['feeds'][number];
export type Sender = Feed['senders'][number];
