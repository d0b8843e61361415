/** search-type (FHIR R4 http, 3.1.0.10): a page of matches, with links to the other pages. */
import { toPage } from '../../store/page.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { searchCount, searchPage } from '../../store/search/search.ts';
import { bundleText } from '../bundle-text.ts';
import { badParameter, type Pair } from '../controls/faults.ts';
import { pageLinks } from '../controls/links.ts';
import { requireScopes } from '../../oauth/bearer.ts';
import { type Answer, type Interaction, readScope, type RequestContext, type RowsOf } from '../interaction.ts';
import { resourceEntry, warningEntries } from '../searchset.ts';
import { searchRequest } from './request.ts';

const ok = (body: string): Answer => ({ status: 200, headers: {}, body });

/**
 * @throws Fault `malformed` for invalid parameters, or a cursor of other parameters; `forbidden` to include patients
 *   that the caller may not read
 */
export async function prepareSearch(
  context: RequestContext,
  type: ResourceType,
  pairs: readonly Pair[],
): Promise<Interaction> {
  const { site } = context.caller;
  const request = searchRequest(type, pairs, context.prefer, context);
  const { criteria, sort, count, total, part, cursor, withPatients } = request;
  if (withPatients) {
    requireScopes(context.caller, [readScope('Patient')]);
    // FHIR R4 search, 3.1.1.5.8: a summary of the text alone has nothing included.
    if (part === 'text') throw badParameter('_include', '_include cannot be used with _summary=text');
  }
  const links = pageLinks(context, type, request.applied);
  const after = cursor === null ? null : await links.open(cursor);
  const outcomes = warningEntries(
    request.ignored.map((issue) => ({ ...issue, message: `${issue.message}. It was left out.` })),
    context.now,
  );
  const counted = searchCount(site, type, criteria);
  const audited = { action: null, searched: [...new Set(request.applied.map(([name]) => name))] };

  if (request.countOnly) {
    const answer = async (rowsOf: RowsOf): Promise<Answer> => {
      const [self] = await links.of(null, null);
      const head = { type: 'searchset', total: rowsOf(counted)[0]?.total ?? 0 };
      return ok(bundleText(head, self === undefined ? [] : [self], outcomes));
    };
    return { audited, queries: [counted], answer };
  }

  const page = searchPage({ site, type, criteria, sort, after, limit: count, withPatients });
  // The elements that are named are those of the type that is searched.
  const includedPart = typeof part === 'string' ? part : null;
  const answer = async (rowsOf: RowsOf): Promise<Answer> => {
    const { included = [], matches = [] } = Object.groupBy(rowsOf(page), ({ is_included }) =>
      is_included === true ? 'included' : 'matches',
    );
    const { resources, more } = toPage(matches, count);
    const last = resources.at(-1);
    const next = more && last !== undefined ? { id: last.id, key: last.sort_key } : null;
    // The first page is the total where nothing follows it.
    const exact = total === 'none' ? undefined : rowsOf(counted)[0]?.total;
    const known = after === null && !more ? resources.length : exact;
    const head = { type: 'searchset', ...(known === undefined ? {} : { total: known }) };
    const patients = toPage(included, included.length).resources.map((stored) =>
      resourceEntry(context.root, { ...stored, type: 'Patient' }, includedPart, { mode: 'include' }),
    );
    const entries = resources.map((stored) => resourceEntry(context.root, { ...stored, type }, part));
    return ok(bundleText(head, await links.of(cursor, next), [...entries, ...patients, ...outcomes]));
  };
  return { audited, queries: total === 'none' ? [page] : [page, counted], answer };
}
