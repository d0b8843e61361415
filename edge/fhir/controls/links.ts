/** The links of a page: `self` has the parameters that were applied, `first` and `next` lead to other pages (FHIR R4 http, 3.1.0.1.8 paging). */
import type { Position } from '../../store/search/page-selection.ts';
import type { BundleLink } from '../bundle-text.ts';
import type { RequestContext } from '../interaction.ts';
import { CURSOR, FORM_CONTROLS } from './controls.ts';
import type { Pair } from './faults.ts';

export interface PageLinks {
  /** @throws Fault `malformed` for a cursor that this gateway did not make for this site and query */
  open(cursor: string): Promise<Position>;
  /**
   * @param cursor the cursor of this page; null: the first page
   * @param next the position of the next page; null: this is the last page
   */
  of(cursor: string | null, next: Position | null): Promise<BundleLink[]>;
}

/**
 * @param path below the root: `Patient`, `Patient/[id]/_history`
 * @param applied the parameters that were applied, without the cursor
 */
export function pageLinks(context: RequestContext, path: string, applied: readonly Pair[]): PageLinks {
  const { root, caller, cursors } = context;
  const query = new URLSearchParams(applied.map(([name, value]) => [name, value])).toString();
  const bound = applied.filter(([name]) => !FORM_CONTROLS.includes(name));
  // JSON, so that two scopes never have the same text.
  const scope = JSON.stringify([caller.site, path, bound]);
  const url = (cursor: string | null): string => {
    const at = cursor === null ? [] : [new URLSearchParams([[CURSOR, cursor]]).toString()];
    const all = [...(query === '' ? [] : [query]), ...at].join('&');
    return all === '' ? `${root}/${path}` : `${root}/${path}?${all}`;
  };
  return {
    open: (cursor) => cursors.open(cursor, scope),
    async of(cursor, next) {
      return [
        { relation: 'self', url: url(cursor) },
        { relation: 'first', url: url(null) },
        ...(next === null ? [] : [{ relation: 'next', url: url(await cursors.seal(next, scope)) }]),
      ];
    },
  };
}
