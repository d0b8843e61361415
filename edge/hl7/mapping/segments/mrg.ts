/**
 * MRG as the merged Patient (HL7 v2.5.1 §3.4.9; the guide has no map of it). If that patient is unknown, its identifiers and
 * name become a stub, so that later messages with the old identifier find the survivor.
 */
import { repetitions } from '../../../../shared/hl7/value.ts';
import { identifier } from '../datatypes/cx.ts';
import { humanNames } from '../datatypes/xpn.ts';
import { each, type FieldMap } from '../field-map.ts';
import type { GroupSegment, SegmentFields } from './rule.ts';

const FIELDS: readonly FieldMap[] = [
  {
    field: 1,
    rows: '§3.4.9.1',
    element: 'identifier',
    keeps: true,
    map: each(1, identifier),
  },
  {
    field: 7,
    rows: '§3.4.9.7',
    element: 'name',
    map: (segment, context) => repetitions(segment, 7).flatMap((part) => humanNames(part, context)),
  },
];

export const MRG: GroupSegment & SegmentFields = {
  name: 'MRG',
  followsPid: true,
  source: 'HL7 v2.5.1',
  fields: FIELDS,
};
