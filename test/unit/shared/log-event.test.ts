/** The documentation has an action for each event, and the code logs no other event. */
import { readdir, readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { LOG_EVENTS } from '../../../shared/log-event.ts';
import { ROOT } from '../../stack/services/build.ts';

const readme = await readFile(`${ROOT}edge/docs/operate.md`, 'utf8');
const section = /\n## Log events\n(.*)/s.exec(readme)?.[1] ?? '';
const rows = [...section.matchAll(/^\| `([^`]+)` *\| ([a-z, ]+?) *\| (.+?) *\|$/gm)].map(
  ([, event = '', levels = '', what = '']) => ({ event, levels: levels.split(', '), what }),
);

test('the table has exactly the events of the code, with their levels', () => {
  expect(Object.fromEntries(rows.map(({ event, levels }) => [event, levels]))).toEqual(LOG_EVENTS);
  expect(rows).toHaveLength(Object.keys(LOG_EVENTS).length);
});

test('an event that needs a person has an action', () => {
  const serious = ['warn', 'error', 'fatal'];
  const silent = rows.filter(({ levels, what }) => levels.some((level) => serious.includes(level)) && what.length < 20);
  expect(silent).toEqual([]);
});

test('each event is logged somewhere', async () => {
  const folders = await Promise.all(
    ['edge', 'sidecar'].map(async (folder) =>
      (await readdir(`${ROOT}${folder}`, { recursive: true }))
        .filter((name) => /\.tsx?$/.test(name) && !name.includes('.generated.'))
        .map((name) => `${folder}/${name}`),
    ),
  );
  const sources = await Promise.all(folders.flat().map((name) => readFile(`${ROOT}${name}`, 'utf8')));
  const logged = new Set(sources.flatMap((text) => [...text.matchAll(/event: '([^']+)'/g)].map(([, event]) => event)));
  expect(Object.keys(LOG_EVENTS).filter((event) => !logged.has(event))).toEqual([]);
});
