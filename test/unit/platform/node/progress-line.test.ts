/** The progress of a program: one overwritten line on a terminal, else several lines. */
import { expect, test } from 'vitest';

import { progressLine } from '../../../../edge/platform/node/progress-line.ts';

function shown(isTTY: boolean): string {
  let text = '';
  const line = progressLine({
    isTTY,
    write: (more: string | Uint8Array) => {
      text += String(more);
      return true;
    },
  });
  for (const done of [0, 50, 100]) line.show(done, 100);
  line.end();
  return text;
}

test('overwrites one line on a terminal', () => {
  expect(shown(true).split('\r').slice(1)).toEqual([
    `${'.'.repeat(30)} 0 %  0 of 100\u001B[K`,
    `${'#'.repeat(15)}${'.'.repeat(15)} 50 %  50 of 100\u001B[K`,
    `${'#'.repeat(30)} 100 %  100 of 100\u001B[K`.concat('\n'),
  ]);
});

test('writes the first and the last state elsewhere', () => {
  expect(shown(false).split('\n')).toEqual([
    `${'.'.repeat(30)} 0 %  0 of 100`,
    `${'#'.repeat(30)} 100 %  100 of 100`,
    '',
  ]);
});

test('nothing to do is all of it', () => {
  let text = '';
  progressLine({
    write: (more: string | Uint8Array) => {
      text += String(more);
      return true;
    },
  }).show(0, 0);
  expect(text).toContain('100 %');
});
