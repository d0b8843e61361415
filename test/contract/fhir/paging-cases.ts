/** Paging: the pages have every remaining resource exactly once despite simultaneous writes; cursors cannot be altered. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';

import { type Body, expectOutcome, idsOf, linkOf, patient, type Reply, type Subject, walk } from './subject.ts';
import { sized } from '../../stack/tools/size.ts';

const BY_ONE_KEY = [
  '',
  '_sort=_lastUpdated',
  '_sort=-_lastUpdated',
  '_sort=name',
  '_sort=-name',
  '_sort=birthdate',
  '_sort=-birthdate',
  '_sort=_id',
  '_sort=-_id',
];

const BY_SEVERAL_KEYS = [
  '_sort=_id,name',
  '_sort=name,_id',
  '_sort=-name,_id',
  '_sort=birthdate,name',
  '_sort=-birthdate,name',
  '_sort=name,-birthdate,-_id',
  '_sort=name,birthdate,-_lastUpdated',
  '_sort=-_lastUpdated,_id',
  '_sort=birthdate,name,-_lastUpdated',
  '_sort=-birthdate,-name,_id',
  '_sort=birthdate,-_id',
  '_sort=_lastUpdated,-birthdate,name',
];

/** The requested order, computed from the returned resources. */
function inOrder(resources: readonly Body[], query: string): string[] {
  const keys = (query.split('=')[1] ?? '_id').split(',');
  const last = keys.at(-1)?.startsWith('-') === true ? '-_id' : '_id';
  const valueOf = (resource: Body, name: string): string =>
    ({
      name: resource['name'][0].text,
      birthdate: resource['birthDate'] ?? '',
      _lastUpdated: resource['meta'].lastUpdated,
    })[name] ?? resource['id'];
  const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
  return resources
    .toSorted((a, b) => {
      for (const key of [...keys, last]) {
        const name = key.replace('-', '');
        const result = compare(valueOf(a, name), valueOf(b, name));
        if (result !== 0) return key === name ? result : -result;
      }
      return 0;
    })
    .map((resource) => String(resource['id']));
}
const RESIDENTS = 23;
const MAX_VISITORS = 100;

/** @returns how to read a site with few names and dates */
function orderCases(subject: () => Subject, sorts: readonly string[]) {
  let token: string;
  let residents: string[];
  const get = (path: string) => subject().call('GET', path, { token });

  const populate = async () => {
    ({ token } = await subject().newSite());
    residents = [];
    // Few names and dates, so that ties are the rule.
    for (let i = 0; i < RESIDENTS; i += 1) {
      const more = {
        gender: 'female',
        name: [{ text: `N${i % 4}` }],
        ...(i % 3 === 0 ? {} : { birthDate: `19${70 + (i % 3)}` }),
      };
      residents.push(await subject().create(patient(`resident-${i}`, more), token));
    }
  };
  beforeAll(populate);

  test.each(sorts)('%s: all of them, once, in one order, for any page size', async (sort) => {
    const all = await get(`/Patient?${sort}`);
    const complete = idsOf(all);
    expect(complete).toEqual(
      inOrder(
        (all.body['entry'] as Body[]).map((entry) => entry['resource']),
        sort,
      ),
    );
    expect(new Set(complete)).toEqual(new Set(residents));
    for (const count of [1, 4, RESIDENTS - 1, RESIDENTS]) {
      const pages = await walk(subject(), `/Patient?_count=${count}&${sort}`, token);
      expect(pages.flatMap(idsOf)).toEqual(complete);
      expect(pages).toHaveLength(Math.ceil(RESIDENTS / count));
      for (const page of pages) expect(linkOf(page, 'first')).toBe(linkOf(pages[0] as Reply, 'first'));
    }
  });

  test('the pages have each remaining resource exactly once while others change', async () => {
    let visitors: string[] = [];
    const step = fc.record({
      what: fc.constantFrom('create', 'update'),
      name: fc.constantFrom('M', 'N0', 'N1', 'N2', 'N9'),
      birthDate: fc.constantFrom('1960', '1970', '1971', '1999'),
    });
    await fc.assert(
      fc
        .asyncProperty(
          fc.constantFrom(...sorts),
          fc.integer({ min: 2, max: 7 }),
          fc.array(step, { minLength: 1, maxLength: 6 }),
          async (sort, count, steps) => {
            const seen: string[] = [];
            let next: string | undefined = `/Patient?gender=female&_count=${count}&${sort}`;
            for (let page = 0; next !== undefined; page += 1) {
              const reply: Reply = await get(next);
              seen.push(...idsOf(reply));
              next = linkOf(reply, 'next');
              const { what, name, birthDate } = steps[page % steps.length] ?? {
                what: 'create',
                name: 'M',
                birthDate: '1960',
              };
              const body = patient(`visitor`, { gender: 'female', name: [{ text: name }], birthDate });
              const visitor = visitors[page % Math.max(visitors.length, 1)];
              if (page > 12) continue;
              if (what === 'create' || visitor === undefined) visitors.push(await subject().create(body, token));
              else await subject().call('PUT', `/Patient/${visitor}`, { body: { ...body, id: visitor }, token });
            }
            for (const id of residents) expect(seen.filter((one) => one === id)).toHaveLength(1);
          },
        )
        // However many walks there are, none has many visitors to pass.
        .beforeEach(async () => {
          if (visitors.length <= MAX_VISITORS) return;
          visitors = [];
          await populate();
        }),
      { numRuns: sized(6, 200) },
    );
  });

  return { get, token: () => token };
}

/** The orders that `pagingCases` leaves out. */
export function pagingOrderCases(subject: () => Subject): void {
  orderCases(subject, BY_SEVERAL_KEYS);
}

export function pagingCases(subject: () => Subject): void {
  const { get, token } = orderCases(subject, BY_ONE_KEY);

  test('the last page is not empty, and no page exceeds _count', async () => {
    const pages = await walk(subject(), `/Patient?_count=2&name=n3`, token());
    expect(pages.every((page) => idsOf(page).length > 0 && idsOf(page).length <= 2)).toBe(true);
    expect(linkOf(pages.at(-1) as Reply, 'next')).toBeUndefined();
  });

  describe('a cursor', () => {
    let next: string;
    beforeAll(async () => {
      next = linkOf(await get('/Patient?_count=2&_sort=name'), 'next') ?? '';
    });
    const cursorOf = (url: string): string => new URL(url).searchParams.get('_cursor') ?? '';

    test('says nothing', async () => {
      // The name is long, so that random bytes do not hold it by chance.
      const { token: owner } = await subject().newSite();
      for (const value of ['1', '2'])
        await subject().create(patient(value, { name: [{ text: 'Featherstone' }] }), owner);
      const page = await subject().call('GET', '/Patient?_count=1&_sort=name', { token: owner });
      const cursor = Buffer.from(cursorOf(linkOf(page, 'next') ?? ''), 'base64url').toString('latin1');
      expect(cursor).not.toBe('');
      expect(cursor).not.toMatch(/feather/i);
    });

    test('400 for a cursor of another site, another query, another type', async () => {
      expectOutcome(await subject().call('GET', next), 400, 'value', 'http._cursor');
      for (const change of ['_count=3', '_sort=-name', 'name=n']) {
        const url = new URL(next);
        const [name = '', value = ''] = change.split('=');
        url.searchParams.set(name, value);
        expectOutcome(await get(url.href), 400, 'value', 'http._cursor');
      }
      expectOutcome(await get(`/Observation?_count=2&_sort=name&_cursor=${cursorOf(next)}`), 400, 'value');
      expectOutcome(await get(`/Observation?_count=2&_cursor=${cursorOf(next)}`), 400, 'value', 'http._cursor');
    });

    test('altered by one bit: 400', async () => {
      const cursor = cursorOf(next);
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const places = [0, 7, 16, 30, cursor.length - 2, cursor.length - 1];
      for (const place of places) {
        for (let bit = 0; bit < 6; bit += 1) {
          const character = alphabet[alphabet.indexOf(cursor[place] ?? '') ^ (1 << bit)];
          const altered = cursor.slice(0, place) + character + cursor.slice(place + 1);
          expectOutcome(await get(next.replace(cursor, altered)), 400, 'value', 'http._cursor');
        }
      }
    });

    test('is not needed to change the format of the answer', async () => {
      expect((await get(`${next}&_pretty=true&_format=json`)).status).toBe(200);
    });
  });
}
