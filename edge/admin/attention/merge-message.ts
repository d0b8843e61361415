/** The ADT A40 that merges one patient into another (HL7 v2.5.1 §3.3.40), for the registration system to send. */
import { RECOMMENDED } from '../../../shared/hl7/delimiters.ts';
import type { Syntax } from '../../../shared/hl7/escapes.ts';
import { NEVER_IDENTIFYING } from '../../../shared/hl7/identifier-type.ts';
import { type RepetitionContent, writeSegment } from '../../../shared/hl7/write.ts';
import { nameKey } from '../../store/patient-identity.ts';
import type { readPerson } from './person.ts';

type Stored = ReturnType<typeof readPerson>;
type Identifier = NonNullable<Stored['identifier']>[number];

export interface MergeMessage {
  /** PID: the patient that stays. */
  readonly survivor: Stored;
  /** MRG. */
  readonly merged: Stored;
  /** MSH-10, at most 20 characters. */
  readonly controlId: string;
  /** ISO instant. */
  readonly at: string;
  /** MSH-3 and MSH-4. */
  readonly sender: { readonly application: string; readonly facility: string };
  /** URI to namespace, as the site's settings name it. */
  readonly namespaces: ReadonlyMap<string, string>;
}

const SYNTAX: Syntax = { delimiters: RECOMMENDED, charset: 'utf-8' };

/** A message with CR after each segment; undefined if a patient has no identifier. */
export function mergeMessage({
  survivor,
  merged,
  controlId,
  at,
  sender,
  namespaces,
}: MergeMessage): string | undefined {
  const kept = identifying(survivor);
  const all = identifying(merged);
  // An identifier of both does not show which patient MRG means.
  const own = all.filter((each) => !kept.some((other) => isSame(each, other)));
  const gone = own.length === 0 ? all : own;
  if (kept.length === 0 || gone.length === 0) return undefined;
  const time = `${at.slice(0, 19).replaceAll(/\D/g, '')}+0000`;
  const cx = (each: Identifier) => cxOf(each, namespaces);
  const segments = [
    writeSegment(
      'MSH',
      [
        sender.application,
        sender.facility,
        '',
        '',
        time,
        '',
        [['ADT', 'A40', 'ADT_A39']],
        controlId,
        'P',
        '2.5.1',
        ...Array.from({ length: 5 }, () => ''),
        'UNICODE UTF-8',
      ],
      SYNTAX,
    ),
    writeSegment('EVN', ['', time], SYNTAX),
    writeSegment(
      'PID',
      [
        '1',
        '',
        kept.map(cx),
        '',
        namesOf(survivor),
        '',
        (survivor.birthDate ?? '').replaceAll('-', ''),
        SEXES[survivor.gender ?? ''] ?? '',
      ],
      SYNTAX,
    ),
    writeSegment('MRG', [gone.map(cx), '', '', '', '', '', namesOf(merged)], SYNTAX),
  ];
  return segments.map((segment) => `${segment}\r`).join('');
}

/** Table 0001. */
const SEXES: Readonly<Record<string, string>> = { male: 'M', female: 'F', other: 'O', unknown: 'U' };

const typeOf = ({ type }: Identifier): string => type?.coding?.[0]?.code ?? '';

/** The current identifiers that identify a patient. */
function identifying({ identifier }: Stored): Identifier[] {
  return (identifier ?? []).filter(
    (each) => (each.value ?? '').trim() !== '' && each.use !== 'old' && !NEVER_IDENTIFYING.has(typeOf(each)),
  );
}

const isSame = (a: Identifier, b: Identifier): boolean =>
  a.value === b.value &&
  (a.system === undefined && b.system === undefined
    ? nameKey(a.assigner?.display ?? '') === nameKey(b.assigner?.display ?? '')
    : a.system === b.system);

function cxOf(each: Identifier, namespaces: ReadonlyMap<string, string>): RepetitionContent {
  const { system, value, assigner } = each;
  const namespace = assigner?.display ?? (system === undefined ? undefined : namespaces.get(system));
  return [value, '', '', [namespace, ...(system === undefined ? [] : universalId(system))], typeOf(each)];
}

/** HD.2 and HD.3 of a URI (table 0301). */
function universalId(system: string): [string, string] {
  if (system.startsWith('urn:oid:')) return [system.slice('urn:oid:'.length), 'ISO'];
  if (system.startsWith('urn:uuid:')) return [system.slice('urn:uuid:'.length), 'UUID'];
  return [system, 'URI'];
}

function namesOf({ name }: Stored): RepetitionContent[] {
  const [first] = (name ?? []).filter(({ family, given }) => family !== undefined || given !== undefined);
  if (first === undefined) return [];
  const [given, ...others] = first.given ?? [];
  return [[first.family, given ?? '', others.join(' ')]];
}
