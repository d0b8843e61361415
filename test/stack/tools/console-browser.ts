/**
 * A console with data in a real Chromium, for all tests of a file: signed-in staff, messages, and checks of the pages'
 * accessibility.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';

import type { Account } from '../services/oidc-accounts.ts';
import { ALL_SCOPES, type ApiKey } from '../services/seed.ts';
import { isBrowserMissing, NO_BROWSER, startBrowser } from './browser.ts';
import type { TestConsole } from './console.ts';
import { startConsoleSite } from './console-site.ts';
import type { TestDatabase } from './database.ts';
import { isFull, sized } from './size.ts';

/** The folder for screenshots of the pages, if set. */
export const PICTURES = process.env['SCREENSHOTS'];
export const WIDE = 1280;
export const PHONE = 390;
const HEIGHT = 900;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Axe {
  run(context: unknown, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** The combinations of colour, background and font whose contrast is sufficient. */
const readableStyles = new Set<string>();

/**
 * Expects no violation of accessibility (axe-core). Contrast is most of the work and depends on an element's style alone. So one
 * element of each combination of colour, background and font is checked, at the normal size once for all pages of a process.
 *
 * @param left rules that a library breaks
 * @param rules `contrast` for a second view of a page, of which another view has all other rules. `none` is for a page on the
 *   way of a person, of which pages.test.ts has the same page: the normal size leaves it out.
 */
export async function expectAccessible(
  page: Page,
  left: readonly string[] = [],
  rules: 'all' | 'contrast' | 'none' = sized('none', 'all'),
): Promise<void> {
  if (rules === 'none') return;
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const { violations, styles } = await page.evaluate(
    async ({ left, rules, known }) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const checked = new Set(known);
      const samples = new Map<string, Element>();
      const backgrounds = new Map<Element, string>();
      const backgroundOf = (element: Element): string => {
        const found = backgrounds.get(element);
        if (found !== undefined) return found;
        const { backgroundColor, backgroundImage } = getComputedStyle(element);
        const above = element.parentElement === null ? '' : backgroundOf(element.parentElement);
        const all = `${backgroundColor} ${backgroundImage} ${above}`;
        backgrounds.set(element, all);
        return all;
      };
      for (const element of document.body.querySelectorAll('*')) {
        if (![...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim()))
          continue;
        const { color, fontSize, fontWeight, opacity } = getComputedStyle(element);
        const style = `${color} ${fontSize} ${fontWeight} ${opacity} ${backgroundOf(element)}`;
        if (!samples.has(style) && !checked.has(style) && element.checkVisibility()) samples.set(style, element);
      }
      const contrast = { runOnly: { type: 'rule', values: ['color-contrast'] } };
      const others = { rules: { 'color-contrast': { enabled: false } } };
      const found = [];
      if (samples.size > 0)
        found.push(await axe.run({ include: [...samples.values()] }, { resultTypes: ['violations'], ...contrast }));
      if (rules === 'all') {
        // Swagger UI colours each part of an example by a separate element: thousands, of text alone.
        const examples = [...document.querySelectorAll('.swagger-ui pre code')].map((code) => ({
          code,
          parts: [...code.childNodes],
        }));
        for (const { code } of examples) code.replaceChildren(code.textContent);
        found.push(await axe.run(document, { resultTypes: ['violations'], ...others }));
        for (const { code, parts } of examples) code.replaceChildren(...parts);
      }
      const violations = found
        .flatMap((run) => run.violations)
        .filter(({ id }) => !left.includes(id))
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      return { violations, styles: [...samples.keys()] };
    },
    { left, rules, known: isFull ? [] : [...readableStyles] },
  );
  expect(violations, page.url()).toEqual([]);
  for (const style of styles) readableStyles.add(style);
}

/** The errors in a page's browser console. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  return complaints;
}

/** An admission of a patient with this number of the authority EAST. */
export const admission = (control: string, mrn: string): string =>
  `MSH|^~\\&|ADT|EAST|GW|GW|20261101083000+0100||ADT^A04^ADT_A01|${control}|P|2.5.1\r` +
  `EVN|A04|20261101083000+0100\rPID|1||${mrn}^^^EAST^MR||Lovelace^Ada||19701231|F\rZZZ|1\r`;

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
}

export interface ConsoleInBrowser {
  readonly db: TestDatabase;
  readonly stack: TestConsole;
  readonly browser: Browser;
  /** North Hospital, on the clocks of Berlin. */
  readonly site: string;
  /** Admissions, which sends HL7 over HTTP and MLLP. */
  readonly hl7Key: ApiKey;
  /** At the list of API keys. The first time of an account by the provider's own page; then with what the browser kept. */
  readonly signIn: (account: Account, options?: BrowserContextOptions) => Promise<Visit>;
  /** Signs in on the provider's page, with a new session. */
  readonly signInAnew: (account: Account, options?: BrowserContextOptions) => Promise<Visit>;
  /** Over HTTP, as Admissions. */
  readonly sendMessage: (text: string) => Promise<Response>;
  /** Two patient records with these identifiers, listed as possible duplicates. */
  readonly listDuplicates: (one: string, other: string) => Promise<void>;
}

async function start(): Promise<ConsoleInBrowser & { stop(): Promise<void> }> {
  const [stack, browser] = await Promise.all([
    startConsoleSite('workerd', {
      site: { name: 'North Hospital', timeZone: 'Europe/Berlin' },
      key: {
        name: 'Admissions',
        scopes: ALL_SCOPES,
        protocols: ['hl7', 'hl7-mllp'],
        allowedIps: ['10.1.0.0/16', '2001:db8::/32'],
      },
      env: { INTEGRATION_HL7_MTTP_DOMAIN: 'hl7.north.example', INTEGRATION_HL7_MTTP_PORT: '2575' },
    }),
    startBrowser(),
  ]);
  const { db, site, key: hl7Key } = stack;
  const sendMessage = (text: string): Promise<Response> => stack.send(text);
  const keysUrl = `${stack.baseUrl}/admin/keys`;

  const visit = async (options: BrowserContextOptions): Promise<Visit> => {
    const context = await browser.newContext({ viewport: { width: WIDE, height: HEIGHT }, ...options });
    const page = await context.newPage();
    await page.goto(keysUrl);
    return { context, page };
  };
  const signInAnew = async (account: Account, options: BrowserContextOptions = {}): Promise<Visit> => {
    const { context, page } = await visit(options);
    await page.fill('#username', account.username);
    await page.fill('#password', account.password);
    await page.click('button');
    await page.waitForURL(keysUrl);
    return { context, page };
  };
  const kept = new Map<Account, Awaited<ReturnType<BrowserContext['storageState']>>>();

  return {
    db,
    stack,
    browser,
    site,
    hl7Key,
    signInAnew,
    async signIn(account, options = {}) {
      const storageState = kept.get(account);
      if (storageState !== undefined) return visit({ storageState, ...options });
      const first = await signInAnew(account, options);
      kept.set(account, await first.context.storageState());
      return first;
    },
    sendMessage,
    async listDuplicates(one, other) {
      for (const mrn of [one, other]) expect((await sendMessage(admission(`ATT-${mrn}`, mrn))).status).toBe(200);
      await db.client.query(
        `select attention_add($1, (select message_id from hl7_message where control_id = $2), json_build_array(json_build_object(
           'kind', 'possible-duplicate', 'detail', json_build_object('reason', 'number-taken', 'at', 'PID^1^3'),
           'patients', (select json_agg(distinct id) from resource_identifier where site_id = $1 and value in ($3, $4)))))`,
        [site, `ATT-${one}`, one, other],
      );
    },
    async stop() {
      await browser.close();
      await stack.stop();
    },
  };
}

/** For all tests of a file, which are skipped where there is no browser. @returns what was started, for use in a test */
export function consoleInBrowser(): () => ConsoleInBrowser {
  const isSkipped = isBrowserMissing();
  let started: Awaited<ReturnType<typeof start>> | undefined;
  beforeEach(({ skip }) => skip(isSkipped, NO_BROWSER));
  beforeAll(async () => {
    if (!isSkipped) started = await start();
  });
  afterAll(async () => started?.stop());
  return () => {
    if (started === undefined) throw new Error('the console has not been started');
    return started;
  };
}
