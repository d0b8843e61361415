import { expect, test } from 'vitest';

import { fieldName, segmentName } from '../../../../edge/admin/messages/hl7-names.ts';

test.each([
  ['MSH', 10, 'Message Control ID'],
  ['MSH', 18, 'Character Set'],
  ['PID', 3, 'Patient Identifier List'],
  ['PID', 30, 'Patient Death Indicator'],
  ['PV1', 44, 'Admit Date/Time'],
  ['OBR', 25, 'Result Status'],
  ['OBX', 11, 'Observation Result Status'],
  ['OBX', 14, 'Date/Time of the Observation'],
  ['DG1', 20, 'Diagnosis Identifier'],
  ['PR1', 19, 'Procedure Identifier'],
  ['IAM', 7, 'Allergy Unique Identifier'],
  ['TXA', 12, 'Unique Document Number'],
  ['TXA', 19, 'Document Availability Status'],
  ['MRG', 1, 'Prior Patient Identifier List'],
  ['ERR', 8, 'User Message'],
  ['MSA', 2, 'Message Control ID'],
  ['PID', 99, null],
  ['ZZZ', 1, null],
  ['constructor', 1, null],
])('%s-%i is %s', (segment, field, name) => {
  expect(fieldName(segment, field)).toBe(name);
});

test('a Z segment is named local, and an unknown segment has no name', () => {
  expect(segmentName('ZPI')).toBe('Local segment');
  expect(segmentName('XYZ')).toBeNull();
});
