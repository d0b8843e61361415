/** The blocks of commands in README and the documentation, and the test that runs each. */
import { readFileSync } from 'node:fs';

import { CHAPTERS } from '../../edge/docs/contents.ts';
import { ROOT } from '../stack/services/build.ts';

export interface CommandBlock {
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const PAGES = ['README.md', ...CHAPTERS.map(({ page }) => `edge/docs/${page}.md`)];

/** Every block of shell, in the order of the pages. */
export const COMMAND_BLOCKS: readonly CommandBlock[] = PAGES.flatMap((page) => {
  const text = readFileSync(`${ROOT}${page}`, 'utf8');
  const parts = text.matchAll(/^#{1,4} (.*)$|^ *```(\w*)\n([^]*?)^ *```$/gm);
  let heading = '';
  return [...parts].flatMap(([, title, language, block = '']) => {
    heading = title ?? heading;
    return language === 'sh' ? [{ page, heading, text: block }] : [];
  });
});

/** Sections whose commands stack.test.ts runs on the local stack, by page and heading. */
export const ON_LOCAL_STACK: readonly string[] = [
  'README.md, First token, first patient',
  'README.md, First message',
  'edge/docs/quickstart.md, Get an access token',
  'edge/docs/quickstart.md, Create and find a patient',
  'edge/docs/quickstart.md, Send a message',
  'edge/docs/senders.md, Send over HTTP',
  'edge/docs/senders.md, Send over MLLP',
  'edge/docs/clients.md, Read and search',
  'edge/docs/clients.md, Export everything',
  'edge/docs/clients.md, Be notified of changes',
];

/** Sections whose commands deploy-chapter.test.ts runs on an empty database, in this order. */
export const ON_DEPLOYMENT: readonly string[] = [
  'edge/docs/deploy.md, With Docker Compose',
  'edge/docs/deploy.md, Step 1: database',
  'edge/docs/deploy.md, Step 2: keys and secrets',
  'edge/docs/deploy.md, Step 3: addresses',
  'edge/docs/operate.md, Doctor',
  'edge/docs/deploy.md, Step 4: first site, first API key',
  'edge/docs/deploy.md, Step 5: first patient',
  'edge/docs/deploy.md, Settings of a site',
  'edge/docs/senders.md, Send SNOMED codes for local codes',
  'edge/docs/senders.md, Rules for one sender',
  'edge/docs/deploy.md, Several sites behind one sidecar',
  'edge/docs/deploy.md, Staging',
  'edge/docs/deploy.md, The program on Deno',
  'edge/docs/deploy.md, MLLP sidecar',
  'edge/docs/operate.md, Upgrade and roll back',
  'edge/docs/operate.md, Rotate the signing keys',
  'edge/docs/operate.md, Who saw what',
  'edge/docs/operate.md, Sites as code',
];

/** Sections that box.test.ts follows with two processes behind a proxy, in this order. */
export const ON_TWO_PROCESSES: readonly string[] = [
  'edge/docs/operate.md, Upgrade on your own machine',
  'edge/docs/operate.md, Rotate on your own machine',
];

/** More of them, for which the test first makes an alert. */
export const ON_USED_DEPLOYMENT: readonly string[] = [
  'edge/docs/operate.md, Alerts',
  'edge/docs/operate.md, What is kept how long',
  'edge/docs/operate.md, Reindex',
  'edge/docs/operate.md, Erase a patient',
  'edge/docs/operate.md, Logs and traces',
];

/** Sections whose commands no test runs as they are, with the reason. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'README.md, Start': 'npm ci would replace node_modules under the running tests; stack.test.ts runs npm start',
  'README.md, On your own machine':
    'the commands need Docker; box.test.ts does the steps of the images and of compose.yaml',
  'edge/docs/deploy.md, With systemd': 'the commands change users and services; box.test.ts verifies the units',
  'README.md, Test': '.ci/run runs this line',
  'edge/docs/quickstart.md, Start the gateway': 'npm ci, as in README',
  'edge/docs/contribute.md, Set up': '.ci/run runs these lines',
  'edge/docs/clients.md, What you need': 'the commands would write a private key into the clone',
  'edge/docs/curl.md, Read patients': 'key-examples.test.ts runs the program for keys of every algorithm',
  'edge/docs/curl.md, Send a message': 'key-examples.test.ts runs it as the end of the program',
  'edge/docs/operate.md, Back up and restore':
    'pg_dump must be as new as the server, whose package has none; compare-cli.test.ts runs npm run compare',
};

/**
 * Programs whose commands are recorded instead of run: Wrangler needs a Cloudflare account, Docker a daemon. Wrangler's are
 * compared with its help.
 */
export const RECORDED = ['npx', 'docker'] as const;

/** The blocks of a section. @throws RangeError for a section without any */
export function commandsOf(section: string): string[] {
  const blocks = COMMAND_BLOCKS.filter(({ page, heading }) => `${page}, ${heading}` === section);
  if (blocks.length === 0) throw new RangeError(`no commands in ${section}`);
  return blocks.map(({ text }) => text);
}
