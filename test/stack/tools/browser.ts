/** The system's Chromium by playwright-core, for tests of pages. Nothing is downloaded. */
import { existsSync } from 'node:fs';

import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];

/** Where the browser is: `CHROMIUM`, or where systems put it; undefined where there is none. */
export function findChromium(): string | undefined {
  return [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));
}

/** True where a test of pages cannot run and may say so; in CI it has to run, and fails without a browser. */
export function isBrowserMissing(): boolean {
  if (findChromium() !== undefined || process.env['CI'] === 'true') return false;
  process.stderr.write('No Chromium was found (apt-get install chromium, or set CHROMIUM): its tests are skipped.\n');
  return true;
}

export async function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('Chromium is needed: apt-get install chromium, or set CHROMIUM');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
