/** The registry of segments: each name once, and what is derived from it. */
import { expect, test } from 'vitest';

import {
  GROUP_SEGMENTS,
  isKnown,
  mustFollowPid,
  PATIENT_SEGMENTS,
  RESOURCE_SEGMENTS,
} from '../../../../edge/hl7/mapping/segments/registry.ts';

const names = [...PATIENT_SEGMENTS, ...RESOURCE_SEGMENTS, ...GROUP_SEGMENTS].map(({ name }) => name);

test('a segment is defined once', () => {
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test('a defined segment is known, a Z segment and a misspelt one are not', () => {
  expect([...names, 'MSH', 'PV1'].filter((name) => !isKnown(name))).toEqual([]);
  expect(['ZPI', 'PDI', '???'].filter(isKnown)).toEqual([]);
});

test('a segment about a patient must follow a PID', () => {
  expect(names.filter(mustFollowPid).toSorted()).toEqual([
    'AL1',
    'DG1',
    'IAM',
    'MRG',
    'OBR',
    'OBX',
    'PR1',
    'PRB',
    'TXA',
  ]);
});

test('a segment of a resource needs the scope of its type', () => {
  expect(RESOURCE_SEGMENTS.map(({ scope }) => scope)).toEqual(
    RESOURCE_SEGMENTS.map(({ type }) => `system/${type}.write`),
  );
});
