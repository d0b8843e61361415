/** The system's Chromium by playwright-core, for tests of pages. Nothing is downloaded. */
import { existsSync } from 'node:fs';

import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];

/** Where the browser is: `CHROMIUM`, or where systems put it; undefined where there is none. */
export function findChromium(): string | undefined {
  return [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));
}

/** Why a test of pages cannot run and may say so. */
export const NO_BROWSER = 'no Chromium was found: apt-get install chromium, or set CHROMIUM';

/** True where tests of pages are skipped; in CI they have to run, and fail without a browser. */
export function isBrowserMissing(): boolean {
  return findChromium() === undefined && process.env['CI'] !== 'true';
}

export async function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('Chromium is needed: apt-get install chromium, or set CHROMIUM');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
