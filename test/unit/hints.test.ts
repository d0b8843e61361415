/** Every page that a hint sends a person to is a page of the console, by the title that its navigation shows. */
import { expect, test } from 'vitest';

import { ERROR_REASONS } from '../../shared/hl7/error-reason.ts';
import { KIND_TEXTS } from '../../edge/admin/attention/kinds.ts';
import { PLACES } from '../../edge/admin/web/places.ts';
import { ALERT_KINDS } from '../../edge/alert-kinds.ts';
import { HINTS } from '../../edge/refusals.ts';

const TITLES: ReadonlySet<string> = new Set(Object.values(PLACES).map(({ title }) => title));
const texts = [
  ...HINTS,
  ...Object.values(ALERT_KINDS).map(({ todo }) => todo),
  ...Object.values(KIND_TEXTS).map(({ todo }) => todo),
  ...Object.values(ERROR_REASONS),
];
/** "… is in Messages", "See Requests", "Health says …"; no header such as Retry-After. */
const PLACE = /\b(?:in|at|under|[Ss]ee) ([A-Z][a-z]+(?: keys)?)\b(?!-)|(?<!-)\b([A-Z][a-z]+) (?:lists|shows|says)\b/g;
const named = texts.flatMap((text) => [...text.matchAll(PLACE)].map(([, after, before]) => after ?? before ?? ''));

test('each page in a hint is a page of the console', () => {
  expect(named).toEqual(expect.arrayContaining(['Messages', 'Requests', 'Health']));
  expect(named.filter((name) => !TITLES.has(name))).toEqual([]);
});

test('a hint does not contain “this page”, since several pages show it, nor a reference to a list', () => {
  expect(texts.filter((text) => /\bthis page\b|\breference\b/i.test(text))).toEqual([]);
});
