/** The system's Chromium by playwright-core, for tests of pages. Nothing is downloaded. */
import { existsSync } from 'node:fs';

import { type Browser, chromium, type Page } from 'playwright-core';

/** The shell without a window is the first: its pages need half the CPU time. */
const PLACES = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
];

/** The path of the browser: `CHROMIUM`, or the usual one; undefined without a browser. */
function findChromium(): string | undefined {
  return [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));
}

/** Why a test of pages cannot run and may say so. */
export const NO_BROWSER = 'no Chromium was found: apt-get install chromium, or set CHROMIUM';

/** True where tests of pages are skipped; in CI they have to run, and fail without a browser. */
export function isBrowserMissing(): boolean {
  return findChromium() === undefined && process.env['CI'] !== 'true';
}

/**
 * Makes a click wait until the next page is loaded, so that a test reads the complete page. Without this, a click on a busy
 * machine ends as soon as the page begins to load.
 */
function clickWaitsForAll(page: Page): void {
  const frame = page.mainFrame();
  const click = frame.click.bind(frame);
  frame.click = async (selector, options) => {
    await click(selector, options);
    // A click that closes its page leads to none.
    if (!page.isClosed()) await frame.waitForLoadState();
  };
}

export async function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('Chromium is needed: apt-get install chromium, or set CHROMIUM');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: 60_000 });
  browser.on('context', (context) => {
    // A page with axe takes a second on a quiet machine; a page that never loads fails before the test's time-out.
    context.setDefaultTimeout(60_000);
    context.on('page', clickWaitsForAll);
  });
  return browser;
}
