/** read and vread (FHIR R4 http, 3.1.0.2, 3.1.0.3). */
import { Fault } from '../../shared/fault.ts';
import { isUuid } from '../../shared/uuid.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { type ReadRow, withContent } from '../store/page.ts';
import { readResource } from '../store/resource-by-id.ts';
import type { RequiredResource } from '../store/resource.ts';
import { isNotModified, type RequestHeaders, requirePreconditions, shownIfOf } from './conditional-headers.ts';
import { partOf, READ_CONTROLS, READ_SUMMARIES, readControls } from './controls/controls.ts';
import type { Pair } from './controls/faults.ts';
import { type Answer, type Interaction, NOTED, type RequestContext } from './interaction.ts';
import { resourceText, urlOf, versionHeaders } from './resource-answer.ts';
import type { Part } from './subset.ts';

/** One answer for an unknown id, an invalid id, and an id of another site, without the id. */
export function notFound(type: ResourceType): Fault {
  const message = `no ${type} with this id, or no such version of it, in the site of the access token`;
  return new Fault('not-found', message);
}

/**
 * @param part the part of the resource that the client requests; null: all
 * @throws Fault `not-found` without a resource; `precondition-failed`
 */
export function readAnswer(
  type: ResourceType,
  stored: ReadRow | undefined,
  part: Part | null,
  headers: RequestHeaders,
  root: string,
): Answer {
  if (stored === undefined) throw notFound(type);
  requirePreconditions(headers, stored.version, stored.last_updated);
  if (isNotModified(headers, stored.version, stored.last_updated)) {
    return { status: 304, headers: versionHeaders(stored), body: null, lastUpdated: stored.last_updated };
  }
  return {
    status: 200,
    headers: versionHeaders(stored),
    body: resourceText(type, withContent(stored), part),
    fullUrl: urlOf(root, type, stored.id),
    lastUpdated: stored.last_updated,
  };
}

/** The interaction with an id that cannot exist, which needs no query. */
export const unknownResource = (target: RequiredResource): Interaction => ({
  audited: 'none',
  queries: [],
  answer: () => {
    throw notFound(target.type);
  },
  target,
});

/**
 * @param target a resource, or a version of one
 * @param headers the headers of the request, or of a bundle's entry: `If-None-Match`, `If-Modified-Since`
 */
export function prepareRead(
  { caller, root }: RequestContext,
  target: RequiredResource,
  pairs: readonly Pair[],
  headers: RequestHeaders,
): Interaction {
  const { type, id, version } = target;
  const wanted = partOf(type, readControls(pairs, READ_CONTROLS), READ_SUMMARIES);
  if (!isUuid(id)) return unknownResource(target);
  const query = readResource(caller.site, type, id, version, shownIfOf(headers));
  return {
    audited: NOTED,
    queries: [query],
    answer: (rowsOf) => readAnswer(type, rowsOf(query)[0], wanted, headers, root),
    target,
  };
}
