/**
 * The job that tries the draft of a key's rules on its newest messages. Each message is decided twice, with the live rules and with
 * the draft, and the decisions are compared. Nothing is stored but numbers, names of elements and ids of messages.
 */
import * as z from 'zod';

import { Fault } from '../../../../shared/fault.ts';
import { isJsonObject, parseJson, printJson, type JsonObject } from '../../../../shared/json.ts';
import { jobKind, rowsOfAttempt, type JobKind } from '../../../jobs/kind.ts';
import { senderRules } from '../../../members/sender-rules.ts';
import type { LiveRules } from '../../../store/hl7-snapshot.ts';
import { needOfShown } from '../../../http/memory.ts';
import { inSite } from '../../../store/in-site.ts';
import { byReference, differences, elementDifferences } from '../../../store/resource-differences.ts';
import { parseStored } from '../../../store/resource.ts';
import { messagesToTry, TRIAL_KIND, type TrialFindings, type TrialGroup } from '../../../store/rules-trial.ts';
import { together } from '../../../store/together.ts';
import { decide, type Decision } from '../decide.ts';
import { previewDecision, type IngestDeps, type IngestRequest, type Previewed } from '../ingest.ts';
import type { Reading } from '../reading.ts';
import { load, loadByRules, type Loaded, type NoSender } from '../snapshot/load.ts';
import { requestOf } from './replay.ts';

/**
 * The messages of a step share their round trips, and are in memory together with what is stored of their patients. A step takes
 * about a quarter of a second.
 */
const STEP_MESSAGES = 20;
const STEP_BYTES = 1024 * 1024;
/** One patient may have 16 MiB (hl7_matches_json). Beyond this limit the step is repeated with fewer messages. */
const STEP_ANSWER_BYTES = 16 * 1024 * 1024;
/** Further groups are not listed, and most groups have many messages. */
const MAX_GROUPS = 200;
const MAX_SAMPLES = 5;

const received = z.object({ received_at: z.string(), message_id: z.uuid() });
const group = { messages: z.number(), samples: z.array(z.uuid()).readonly() };

const cursor = z.object({
  clientId: z.string(),
  rules: z.object({ version: z.number(), rules: senderRules }),
  first: received,
  after: received.nullable(),
  last: received,
  found: z.object({
    answers: z.array(z.object({ before: z.string(), after: z.string(), reason: z.string(), ...group })).readonly(),
    elements: z.array(z.object({ element: z.string(), ...group })).readonly(),
    differing: z.number(),
    replayed: z.number(),
    left: z.number(),
  }),
});

export const tryRules = ({ config, share }: Pick<IngestDeps, 'config' | 'share'>): JobKind =>
  jobKind({
    kind: TRIAL_KIND,
    cursor,
    step: async (deps, job) => {
      const { id, site, cursor: at, progress } = job;
      if (site === null) throw new TypeError('a trial is of one site');
      const limits = { messages: rowsOfAttempt(STEP_MESSAGES, job), bytes: STEP_BYTES };
      const rows = await inSite(deps.database, site).run(messagesToTry(site, at.clientId, at, limits));
      const messages = rows.map(({ message_id, ...row }) => ({
        messageId: message_id,
        request: requestOf(site, row, `trial-${id}`, { by: null, shown: null }),
      }));
      await share().reserve(
        site,
        messages.reduce((sum, { request }) => sum + needOfShown(request.bytes), 0),
      );
      const tried = await together(deps.database, messages, STEP_ANSWER_BYTES, (message, database) =>
        tryMessage({ ...deps, database, config, share }, message, at.rules),
      );
      const last = rows.at(-1) ?? at.last;
      const done = progress.done + rows.length;
      const isDone = last.message_id === at.last.message_id;
      return {
        cursor: {
          ...at,
          after: { received_at: last.received_at, message_id: last.message_id },
          found: tried.reduce(plus, at.found),
        },
        progress: { done, total: isDone ? done : progress.total },
        isDone,
        writes: [],
      };
    },
  });

interface StoredRequest {
  readonly messageId: string;
  readonly request: IngestRequest;
}

/** The differences for one message; undefined if it cannot be tried. */
interface Tried {
  readonly messageId: string;
  readonly difference:
    | {
        readonly before: Decision;
        readonly after: Decision;
        readonly elements: ReadonlySet<string>;
        readonly replayed: number;
      }
    | undefined;
}

async function tryMessage(deps: IngestDeps, message: StoredRequest, rules: LiveRules): Promise<Tried> {
  const { messageId, request } = message;
  try {
    const live = await decided(deps, message, await load(deps, request));
    const read = await loadByRules(deps, { ...request, rules }, live.loaded);
    // Most rules change few messages.
    const isEqual = read.status === 'loaded' && isReadEqually(read.reading, live.loaded.reading);
    const draft = isEqual ? live : await decided(deps, message, read);
    const known = byReference(draft.loaded.found.map(({ resource }) => parseStored(resource)));
    const changes = differences(known, draft.decision.effects.resources);
    return {
      messageId,
      difference: {
        before: live.decision,
        after: draft.decision,
        elements: isEqual ? new Set() : differingElements(ownResources(live), ownResources(draft)),
        replayed: changes.filter(({ change }) => change !== 'unchanged').length,
      },
    };
  } catch (error) {
    // Its key was disabled.
    if (error instanceof Fault && error.kind !== 'unavailable') return { messageId, difference: undefined };
    throw error;
  }
}

/** The decision about a message as it would be replayed. */
async function decided(deps: IngestDeps, { messageId, request }: StoredRequest, loaded: Loaded | NoSender) {
  if (loaded.status === 'no-sender') throw new Fault('not-found', 'no such API key');
  return previewDecision(deps, loaded, { messageId, why: 'replayed', actor: null, jobId: null }, request);
}

/** Checks whether two lists of rules have the same effect on a message. */
const isReadEqually = (one: Reading, other: Reading): boolean =>
  one.message?.lines === other.message?.lines && JSON.stringify(one.findings) === JSON.stringify(other.findings);

/** The resources as in a site without patients. */
const ownResources = ({ input, decision }: Previewed): readonly JsonObject[] =>
  (input.found.length + input.patients.length === 0 ? decision : decide({ ...input, found: [], patients: [] })).effects
    .resources;

/** `Patient.gender`, or `Patient` for a resource that only one of the lists has. The ids are new in each decision. */
function differingElements(before: readonly JsonObject[], after: readonly JsonObject[]): ReadonlySet<string> {
  const [one, other] = [byPosition(before), byPosition(after)];
  const names = [...new Set([...one.keys(), ...other.keys()])];
  return new Set(
    names.flatMap((name) => {
      const [was, is] = [one.get(name), other.get(name)];
      const type = name.slice(0, name.indexOf('/'));
      if (was === undefined || is === undefined) return [type];
      return elementDifferences(was, is).map(({ element }) => `${type}.${element}`);
    }),
  );
}

/** Resources by type and position, such as `Observation/2`, with these in the place of their ids. */
function byPosition(resources: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  const counts = new Map<unknown, number>();
  const names = new Map<unknown, string>();
  for (const { resourceType, id } of resources) {
    const count = (counts.get(resourceType) ?? 0) + 1;
    counts.set(resourceType, count);
    names.set(id, `${resourceType as string}/${count}`);
  }
  const renamed = (text: string): string => text.replaceAll(UUID, (id) => names.get(id) ?? id);
  return new Map(
    resources.flatMap((resource): [string, JsonObject][] => {
      const named = parseJson(renamed(printJson(resource)));
      return isJsonObject(named) ? [[names.get(resource['id']) ?? '', named]] : [];
    }),
  );
}
const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

function plus(found: TrialFindings, { messageId, difference }: Tried): TrialFindings {
  if (difference === undefined) return { ...found, left: found.left + 1 };
  const { before, after, elements, replayed } = difference;
  const isAnswered = before.outcome === after.outcome;
  const cause = [...after.findings, ...before.findings].find(({ severity }) => severity === 'E');
  const answer = { before: before.outcome, after: after.outcome, reason: cause?.reason ?? '' };
  return {
    answers: isAnswered ? found.answers : counted(found.answers, answer, messageId),
    elements: [...elements].reduce((groups, element) => counted(groups, { element }, messageId), found.elements),
    differing: found.differing + (elements.size > 0 ? 1 : 0),
    replayed: found.replayed + replayed,
    left: found.left,
  };
}

/** The groups with one more message in the group of these values. */
function counted<Of extends Readonly<Record<string, string>>>(
  groups: readonly TrialGroup<Of>[],
  of: Of,
  messageId: string,
): readonly TrialGroup<Of>[] {
  const isSame = (group: TrialGroup<Of>): boolean => Object.entries(of).every(([name, value]) => group[name] === value);
  const at = groups.findIndex(isSame);
  const group = groups[at];
  if (group === undefined)
    return groups.length < MAX_GROUPS ? [...groups, { ...of, messages: 1, samples: [messageId] }] : groups;
  const samples = group.samples.length < MAX_SAMPLES ? [...group.samples, messageId] : group.samples;
  return groups.with(at, { ...group, messages: group.messages + 1, samples });
}
