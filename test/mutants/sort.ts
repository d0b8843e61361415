/** Seeded defects of the order of a page: a resource that is not on any, a sort that reads a whole site. */
import type { Mutant } from './mutant.ts';

const CONTRACT = ['test/contract/fhir.test.ts'];
const PAGES = 'on deno.*paging.*all of them, once';
const FILE = 'edge/store/search/page-ids.ts';

export const SORTS: readonly Mutant[] = [
  {
    name: 'resources that share the first key are left out at the end of a page',
    file: FILE,
    find: 'fetch first (${count}) rows with ties) q',
    replace: 'fetch first (${count}) rows only) q',
    tests: CONTRACT,
    only: PAGES,
  },
  {
    name: 'what shares the first key is not on the next page',
    file: FILE,
    find: "return rest === '' ? beyond : `(${beyond} or (${column} = ${from} and ${rest}))`;",
    replace: "return rest === '' ? beyond : `(${beyond} or (${column} is null and ${rest}))`;",
    tests: CONTRACT,
    only: PAGES,
  },
  {
    name: 'the id goes its own way',
    file: FILE,
    find: '`q.id ${directionOf({ descending: idDescending })}`',
    replace: '`q.id ${directionOf({ descending: false })}`',
    tests: CONTRACT,
    only: PAGES,
  },
  {
    name: 'keys in two directions are walked in one',
    file: FILE,
    find: 'by === TOGETHER[n] && descending === keys[0]?.descending',
    replace: 'by === TOGETHER[n]',
    tests: CONTRACT,
    only: PAGES,
  },
  {
    name: 'a sort looks every patient without a birth date up',
    file: FILE,
    find: 'return isOfOne || walkedOf',
    replace: 'return keys.length > 0 || walkedOf',
    tests: CONTRACT,
    only: 'on deno.*_sort=birthdate,_lastUpdated',
  },
  {
    name: 'within one birth date all names are read',
    file: FILE,
    find: 'return isIndexed ? both : keys.slice(0, 1);',
    replace: 'return isIndexed ? keys.slice(0, 1) : keys.slice(0, 1);',
    tests: ['test/integration/store/fhir-plans.test.ts'],
    only: '_sort=birthdate,name',
  },
];
