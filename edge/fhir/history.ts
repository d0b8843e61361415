/** history of a resource and of a type (FHIR R4 http, 3.1.0.9). */
import { isUuid } from '../../shared/uuid.ts';
import { toPage } from '../store/page.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { currentVersion, historyPage } from '../store/resource-by-id.ts';
import { typeHistoryPage, type VersionPosition } from '../store/type-history.ts';
import type { Position } from '../store/search/page-selection.ts';
import { bundleText } from './bundle-text.ts';
import { etagOf } from './conditional-headers.ts';
import { CURSOR, HISTORY_CONTROLS, pageCountOf, readControls, sinceOf } from './controls/controls.ts';
import type { Pair } from './controls/faults.ts';
import { pageLinks } from './controls/links.ts';
import { type Interaction, NOTED, type RequestContext } from './interaction.ts';
import { notFound, unknownResource } from './read.ts';
import { resourceText, type Stored, urlOf } from './resource-answer.ts';

/** One version, with the request that wrote it (R4 bundle, bdl-3 and bdl-4). */
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
  const controls = readControls(pairs, HISTORY_CONTROLS);
  const limit = pageCountOf(controls.get('_count'));
  const since = sinceOf(controls, context.now);
  const target = { type, id, version: null };
  if (!isUuid(id)) return unknownResource(target);

  const site = context.caller.site;
  const applied: Pair[] = [...controls].filter(([name]) => name !== CURSOR);
  const links = pageLinks(context, `${type}/${id}/_history`, applied);
  const cursor = controls.get(CURSOR);
  const after = cursor === undefined ? null : await links.open(cursor);
  const below = after === null ? null : Number(after.key);
  const newest = currentVersion(site, type, id);
  const page = historyPage({ site, type, id, below, since, limit });
  return {
    audited: NOTED,
    queries: [newest, page],
    answer: async (rowsOf) => {
      const [current] = rowsOf(newest);
      if (current === undefined) throw notFound(type);
      const { resources, more } = toPage(rowsOf(page), limit);
      const last = resources.at(-1);
      const next = more && last !== undefined ? { id, key: String(last.version) } : null;
      const head = { type: 'history', ...(since === null ? { total: current.version } : {}) };
      const entries = resources.map((stored) => historyEntry(context.root, { ...stored, type }));
      return { status: 200, headers: {}, body: bundleText(head, await links.of(cursor ?? null, next), entries) };
    },
    target,
  };
}

/** A position has one key: the time of the version, then its number. */
const keyOf = ({ last_updated, version }: Stored): string => `${last_updated} ${version}`;

function positionOf({ id, key }: Position): VersionPosition {
  const [lastUpdated = '', version] = (key ?? '').split(' ');
  return { lastUpdated, id, version: Number(version) };
}

/**
 * Newest first, of all resources of the type. A Bundle of type history cannot report parameters that were left out, so
 * `handling=lenient` changes nothing. The audit records it also where it finds no version, as it does for a search.
 */
export async function prepareTypeHistory(
  context: RequestContext,
  type: ResourceType,
  pairs: readonly Pair[],
): Promise<Interaction> {
  const { site } = context.caller;
  const controls = readControls(pairs, HISTORY_CONTROLS);
  const limit = pageCountOf(controls.get('_count'));
  const since = sinceOf(controls, context.now);
  const applied: Pair[] = [...controls].filter(([name]) => name !== CURSOR);
  const links = pageLinks(context, `${type}/_history`, applied);
  const cursor = controls.get(CURSOR);
  const after = cursor === undefined ? null : positionOf(await links.open(cursor));
  const page = typeHistoryPage({ site, type, after, since, limit });
  return {
    audited: { action: 'history', searched: applied.map(([name]) => name) },
    queries: [page],
    answer: async (rowsOf) => {
      const { resources, more } = toPage(rowsOf(page), limit);
      const versions = resources.map((stored) => ({ ...stored, type }));
      const last = versions.at(-1);
      const next = more && last !== undefined ? { id: last.id, key: keyOf(last) } : null;
      // The first page is the total where nothing follows it.
      const head = { type: 'history', ...(after === null && !more ? { total: versions.length } : {}) };
      const entries = versions.map((stored) => historyEntry(context.root, stored));
      return { status: 200, headers: {}, body: bundleText(head, await links.of(cursor ?? null, next), entries) };
    },
  };
}
