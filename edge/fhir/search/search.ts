/** search-type (FHIR R4 http, 3.1.0.10): a page of matches, with links to the other pages. */
import { requireWithinLimits, toPage, withContent } from '../../store/page.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { searchCount, searchPage } from '../../store/search/search.ts';
import { bundleText } from '../bundle-text.ts';
import { badParameter, type Pair } from '../controls/faults.ts';
import { pageLinks } from '../controls/links.ts';
import { requireScopes } from '../../oauth/bearer.ts';
import { type Answer, type Interaction, readScope, type RequestContext, type RowsOf } from '../interaction.ts';
import { resourceEntry, warningEntries } from '../searchset.ts';
import { prepareProvenanceSearch, provenanceEntries } from '../provenance.ts';
import { type SearchRequest, searchRequest } from './request.ts';
import { escaped } from './values.ts';

const ok = (body: string): Answer => ({ status: 200, headers: {}, body });

/** The parameter of `Patient/[id]/[type]`; a comma in the id separates nothing. */
export const aboutPatient = (id: string): Pair => ['patient', `Patient/${escaped(id)}`];

/**
 * @throws Fault `malformed` for invalid parameters, or a cursor of other parameters; `forbidden` to include patients
 *   that the caller may not read
 */
export async function prepareSearch(
  context: RequestContext,
  type: ResourceType,
  pairs: readonly Pair[],
): Promise<Interaction> {
  if (type === 'Provenance') return prepareProvenanceSearch(context, pairs);
  return prepareSearchRequest(context, type, searchRequest(type, pairs, context.prefer, context));
}

/**
 * @param path the address of the search below the root, for its links
 * @throws Fault as `prepareSearch`
 */
export async function prepareSearchRequest(
  context: RequestContext,
  type: ResourceType,
  request: SearchRequest,
  path: string = type,
): Promise<Interaction> {
  const { site } = context.caller;
  const { criteria, related, included, sort, count, total, part, cursor } = request;
  const others = [...related.map((one) => one.type), ...included];
  requireScopes(context.caller, [...new Set(others)].map(readScope));
  // FHIR R4 search, 3.1.1.5.8: a summary of the text alone has nothing included.
  if (included.length > 0 && part === 'text') {
    const name = included.includes('Patient') ? '_include' : '_revinclude';
    throw badParameter(name, `${name} cannot be used with _summary=text`);
  }
  const links = pageLinks(context, path, request.applied);
  const after = cursor === null ? null : await links.open(cursor);
  const outcomes = warningEntries(
    request.ignored.map((issue) => ({ ...issue, message: `${issue.message}. It was left out.` })),
    context.now,
  );
  const counted = searchCount(site, type, criteria, related);
  const audited = { action: null, searched: [...new Set(request.applied.map(([name]) => name))] };

  if (request.countOnly) {
    const answer = async (rowsOf: RowsOf): Promise<Answer> => {
      const rows = rowsOf(counted);
      requireWithinLimits(rows);
      const [self] = await links.of(null, null);
      const head = { type: 'searchset', total: rows[0]?.total ?? 0 };
      return ok(bundleText(head, self === undefined ? [] : [self], outcomes));
    };
    return { audited, queries: [counted], answer };
  }

  const page = searchPage({ site, type, criteria, related, sort, after, limit: count, included });
  // The elements that are named are those of the type that is searched.
  const includedPart = typeof part === 'string' ? part : null;
  const answer = async (rowsOf: RowsOf): Promise<Answer> => {
    requireWithinLimits(rowsOf(page));
    const { beside = [], matches = [] } = Object.groupBy(rowsOf(page), ({ is_included }) =>
      is_included === true ? 'beside' : 'matches',
    );
    const { resources, more } = toPage(matches, count);
    const last = resources.at(-1);
    const next = more && last !== undefined ? { id: last.id, key: last.sort_key } : null;
    // The first page is the total where nothing follows it.
    const exact = total === 'none' ? undefined : rowsOf(counted)[0]?.total;
    const known = after === null && !more ? resources.length : exact;
    const head = { type: 'searchset', ...(known === undefined ? {} : { total: known }) };
    const includes = beside.map(withContent).flatMap((stored) => {
      const of = included.find((one) => one === stored.type);
      return of === undefined
        ? []
        : [resourceEntry(context.root, { ...stored, type: of }, includedPart, { mode: 'include' })];
    });
    const made = provenanceEntries(context.root, resources, includedPart);
    const entries = resources.map((stored) => resourceEntry(context.root, { ...stored, type }, part));
    return ok(bundleText(head, await links.of(cursor, next), [...entries, ...includes, ...made, ...outcomes]));
  };
  return { audited, queries: total === 'none' ? [page] : [page, counted], answer };
}
