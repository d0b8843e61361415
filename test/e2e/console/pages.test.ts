/**
 * Every page of the console in both colour schemes, at the width of a laptop and of a phone. Each page is accessible, not wider
 * than the window, and small. It causes no error in the browser and loads everything from the gateway's host.
 */
import { mkdir } from 'node:fs/promises';

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';

import {
  complaintsOf,
  consoleInBrowser,
  expectAccessible,
  PHONE,
  PICTURES,
  type Visit,
  WIDE,
} from '../../stack/tools/console-browser.ts';
import { consoleRoutes } from '../../stack/tools/console-routes.ts';
import { everyNth, isFull } from '../../stack/tools/size.ts';
import { fillPages, NO_PAGES, PAGES } from './page-table.ts';

const MAX_PAGE_BYTES = 200 * 1024;
const open = consoleInBrowser();

/**
 * In an order that needs one navigation only. The small size has each colour scheme and each width once. It checks rules other
 * than contrast at the width of a phone, where tables become cards.
 */
const VIEWS = [
  { colorScheme: 'light', width: WIDE },
  ...(isFull ? ([{ colorScheme: 'dark', width: WIDE }] as const) : []),
  { colorScheme: 'dark', width: PHONE },
  ...(isFull ? ([{ colorScheme: 'light', width: PHONE }] as const) : []),
] as const;

/** Without transitions, colours change at once. */
const STILL = { reducedMotion: 'reduce' } as const;

/** Cells that have no title beside them where the table has become cards. */
const namelessCells = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.table tbody td:not([data-label])')].map(({ outerHTML }) => outerHTML),
  );

test('every page has a row here', async () => {
  const routes = consoleRoutes();
  const asked = routes.filter(({ method, path }) => method === 'GET' && !path.startsWith('/admin/api/'));
  const known = new Set([...PAGES.map(({ route }) => route), ...NO_PAGES]);
  expect(asked.map(({ path }) => path).filter((path) => !known.has(path))).toEqual([]);
});

describe('in both colour schemes and widths', () => {
  let visit: Visit;
  let visitor: Page;
  let shown: Awaited<ReturnType<typeof fillPages>>;
  beforeAll(async () => {
    const { signIn, stack } = open();
    shown = await fillPages(open());
    visit = await signIn(stack.oidc.admin, STILL);
    visitor = await (await open().browser.newContext(STILL)).newPage();
    if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
  });

  /** At the normal size, every second page is checked for its markup, and each for its contrast. */
  const marked = new Set(everyNth(2, PAGES));

  test.each(PAGES)('$name', async (asked) => {
    const { name, route, path, isPublic = false } = asked;
    const { stack } = open();
    const page = isPublic ? visitor : visit.page;
    page.removeAllListeners();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: WIDE, height: 900 });
    const complaints = complaintsOf(page);
    const hosts = new Set<string>();
    const sizes: Promise<number>[] = [];
    page.on('response', (response) => {
      hosts.add(new URL(response.url()).host);
      sizes.push(
        response.body().then(
          ({ length }) => length,
          () => 0,
        ),
      );
    });
    const answer = await page.goto(`${stack.baseUrl}${path(shown)}`, { waitUntil: 'load' });
    expect(answer?.status()).toBe(route === '*' ? 404 : 200);
    expect([...hosts]).toEqual([new URL(stack.baseUrl).host]);
    expect((await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_PAGE_BYTES);
    expect(await namelessCells(page)).toEqual([]);

    for (const { colorScheme, width } of VIEWS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(scrollWidth, `wide at ${width}`).toBeLessThanOrEqual(width);
      await expectAccessible(page, [], isFull || (width === PHONE && marked.has(asked)) ? 'all' : 'contrast');
      if (PICTURES === undefined) continue;
      await page.screenshot({ path: `${PICTURES}/${name}-${colorScheme}-${width}.png`, fullPage: true });
    }
    const openWidth = await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
      return document.documentElement.scrollWidth;
    });
    expect(openWidth, 'on a phone with all details open').toBeLessThanOrEqual(PHONE);
    // A page that is not there is a failure by itself.
    expect(complaints.filter((line) => route !== '*' || !line.includes('404'))).toEqual([]);
  });
});
