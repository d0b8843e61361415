/** read, vread and history of one resource (FHIR R4 http, 3.1.0.2, 3.1.0.3, 3.1.0.9). */
import { Fault } from '../../shared/fault.ts';
import { isUuid } from '../../shared/uuid.ts';
import { toPage } from '../store/page.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { currentVersion, historyPage, readResource, readVersion } from '../store/resource-by-id.ts';
import { etagOf, isNotModified, type RequestHeaders, requireStillSo, shownIfOf } from './conditional-headers.ts';
import { bundleText } from './bundle-text.ts';
import {
  CURSOR,
  HISTORY_CONTROLS,
  historyCountOf,
  partOf,
  READ_CONTROLS,
  READ_SUMMARIES,
  readControls,
} from './controls/controls.ts';
import { badParameter, type Pair } from './controls/faults.ts';
import { pageLinks } from './controls/links.ts';
import { type Answer, type Interaction, interaction, NOTED, type RequestContext, type Target } from './interaction.ts';
import { resourceText, type Stored, urlOf, versionHeaders } from './resource-answer.ts';
import { instantInterval } from './search/date.ts';
import type { Part } from './subset.ts';

/** The same for an id that never was, one that cannot be, and one of another site: no word of the id. */
export function notFound(type: ResourceType): Fault {
  const message = `no ${type} with this id, or no such version of it, in the site of the access token`;
  return new Fault('not-found', message);
}

/** What of the resource is asked for; null: all. */
const readPart = (type: ResourceType, pairs: readonly Pair[], { prefer }: RequestContext): Part | null =>
  partOf(type, readControls(pairs, READ_CONTROLS, prefer), READ_SUMMARIES);

function readAnswer(
  type: ResourceType,
  stored: Stored | undefined,
  part: Part | null,
  headers: RequestHeaders,
  root: string,
): Answer {
  if (stored === undefined) throw notFound(type);
  requireStillSo(headers, stored.version, stored.last_updated);
  if (isNotModified(headers, stored.version, stored.last_updated)) {
    return { status: 304, headers: versionHeaders(stored), body: null, lastUpdated: stored.last_updated };
  }
  return {
    status: 200,
    headers: versionHeaders(stored),
    body: resourceText(type, stored, part),
    fullUrl: urlOf(root, type, stored.id),
    lastUpdated: stored.last_updated,
  };
}

const nothing = (target: Target): Interaction =>
  interaction(
    'none',
    [],
    () => {
      throw notFound(target.type);
    },
    { target },
  );

/** @param headers of the request, or of a bundle's entry: `If-None-Match`, `If-Modified-Since` */
export function prepareRead(
  context: RequestContext,
  type: ResourceType,
  id: string,
  pairs: readonly Pair[],
  headers: RequestHeaders,
): Interaction {
  const wanted = readPart(type, pairs, context);
  const target = { type, id, version: null };
  if (!isUuid(id)) return nothing(target);
  return interaction(
    NOTED,
    [readResource(context.caller.site, type, id, shownIfOf(headers))],
    ([[stored]]) => readAnswer(type, stored && { ...stored, type }, wanted, headers, context.root),
    { target },
  );
}

/** Version ids are the numbers from 1; `version` in the database is a 32-bit integer. */
const VERSION = /^[1-9][0-9]{0,8}$/;

export function prepareVread(
  context: RequestContext,
  type: ResourceType,
  id: string,
  version: string,
  pairs: readonly Pair[],
  headers: RequestHeaders,
): Interaction {
  const wanted = readPart(type, pairs, context);
  // A version that cannot be is version 0, which never is.
  const target = { type, id, version: VERSION.test(version) ? Number(version) : 0 };
  if (!isUuid(id)) return nothing(target);
  return interaction(
    NOTED,
    [readVersion(context.caller.site, type, id, target.version, shownIfOf(headers))],
    ([[stored]]) => readAnswer(type, stored && { ...stored, type }, wanted, headers, context.root),
    { target },
  );
}

function historyEntry(root: string, stored: Stored): string {
  const created = stored.version === 1;
  const fullUrl = urlOf(root, stored.type, stored.id);
  const request = created
    ? { method: 'POST', url: stored.type }
    : { method: 'PUT', url: `${stored.type}/${stored.id}` };
  const response = {
    status: created ? '201 Created' : '200 OK',
    location: `${fullUrl}/_history/${stored.version}`,
    etag: etagOf(stored.version),
    lastModified: stored.last_updated,
  };
  const text = resourceText(stored.type, stored, null);
  return `{"fullUrl":"${fullUrl}","resource":${text},"request":${JSON.stringify(request)},"response":${JSON.stringify(response)}}`;
}

/** Newest first; `total` is exact, because versions count up from 1. */
export async function prepareHistory(
  context: RequestContext,
  type: ResourceType,
  id: string,
  pairs: readonly Pair[],
): Promise<Interaction> {
  const controls = readControls(pairs, HISTORY_CONTROLS, context.prefer);
  const limit = historyCountOf(controls.get('_count'));
  const since = controls.get('_since');
  const interval = since === undefined ? undefined : instantInterval(`ge${since}`, context.now);
  if (since !== undefined && interval === undefined) throw badParameter('_since', '_since must be an instant');
  const target = { type, id, version: null };
  if (!isUuid(id)) return nothing(target);

  const site = context.caller.site;
  const applied: Pair[] = [...controls].filter(([name]) => name !== CURSOR);
  const links = pageLinks(context, `${type}/${id}/_history`, applied);
  const cursor = controls.get(CURSOR);
  const after = cursor === undefined ? null : await links.open(cursor);
  const below = after === null ? null : Number(after.key);
  return interaction(
    NOTED,
    [currentVersion(site, type, id), historyPage({ site, type, id, below, since: interval?.from ?? null, limit })],
    async ([[current], rows]) => {
      if (current === undefined) throw notFound(type);
      const { resources, more } = toPage(rows, limit);
      const last = resources.at(-1);
      const next = more && last !== undefined ? { id, key: String(last.version) } : null;
      const head = { type: 'history', ...(since === undefined ? { total: current.version } : {}) };
      const entries = resources.map((stored) => historyEntry(context.root, { ...stored, type }));
      return { status: 200, headers: {}, body: bundleText(head, await links.of(cursor ?? null, next), entries) };
    },
    { target },
  );
}
