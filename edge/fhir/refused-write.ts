/** Translates rejected rows of the database to faults that name the place in the request. */
import { Fault, type Issue } from '../../shared/fault.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { type ConditionOutcome, failedFault, type TransactionRow } from '../store/transaction.ts';
import { issuesOf } from './outcome.ts';
import { patientPath, unknownPatient } from './patient-reference.ts';
import { malformedAt } from './controls/faults.ts';

/** The source of a row of the database call: `at` is `Bundle.entry[2]`, or null without a bundle. */
export interface RowOrigin {
  readonly type: ResourceType;
  readonly at: string | null;
  /** It replaces the version that the lookup read. */
  readonly isPatch?: boolean;
  /** Its condition searched a type that the token may not read (conditions.ts), so the answer must not reveal the result. */
  readonly isBlind?: boolean;
}

/** `Patient.name[0]` within an entry is `Bundle.entry[2].resource.name[0]`. */
function within(at: string | null, path: string): string {
  return at === null ? path : `${at}.resource${path.replace(/^[A-Za-z]+/, '')}`;
}

/** An issue of an entry, located in the bundle. */
export function issueWithin(at: string, issue: Issue): Issue {
  const place = issue.at === undefined || issue.at.startsWith('http.') ? at : within(at, issue.at);
  return { ...issue, at: place };
}

/** An update cannot create a resource, because the server assigns ids. An id of another site is an unknown id. */
export function unknownId(type: ResourceType): Fault {
  return new Fault(
    'not-found',
    `The site of the access token has no ${type} with this id. The server assigns ids. To create the resource, send ` +
      `POST ${type}, or PUT ${type}?[search parameters] with a body without an id.`,
  );
}

/** The Fault at an entry of a bundle, or as it is. */
function located(fault: Fault, at: string | null): Fault {
  if (at === null) return fault;
  return fault.with({ issues: issuesOf(fault).map((issue) => issueWithin(at, issue)) });
}

const STALE =
  'The resource does not match If-Match, If-None-Match or If-Unmodified-Since. Read it again, and apply the change to the ' +
  'new version.';
const OVERTAKEN =
  'Another request, or another entry of the Bundle, changed the resource during the patch. Nothing was patched: send it again.';
const TWICE = 'Two entries would write one resource: leave one of them out.';
const STALE_OR_TWICE =
  'An entry does not match its ifMatch or ifNoneMatch, or two entries would write one resource. Check the versions, and ' +
  'send entries for one resource in separate Bundles.';

/** The resource changed after the lookup; serve.ts repeats the lookup. */
const overtaken = (at: string | null): Fault => located(new Fault('conflict', OVERTAKEN), at);

/**
 * Translates a Fault about rows to the places in the request; other Faults are returned unchanged.
 *
 * @param origins the origins of the rows, in the order of the rows
 */
export function explainRows(fault: Fault, origins: readonly RowOrigin[]): Fault {
  if (fault.rows === undefined) return fault;
  const rows = fault.rows.flatMap((position) => origins[position] ?? []);
  const [first] = rows;
  if (first === undefined) throw new RangeError('the database names a row that was not sent');
  const isStale = fault.kind === 'precondition-failed' && first.isPatch !== true;
  if ((isStale || fault.kind === 'conflict') && origins.some(({ isBlind }) => isBlind === true)) {
    return new Fault('precondition-failed', STALE_OR_TWICE);
  }
  switch (fault.kind) {
    case 'not-found':
      return located(unknownId(first.type), first.at);
    case 'conflict': {
      const issues = rows.map((row): Issue => ({ code: 'duplicate', message: TWICE, at: row.at ?? row.type }));
      return new Fault('malformed', TWICE, { issues });
    }
    case 'precondition-failed':
      if (first.isPatch === true) return overtaken(first.at);
      return located(new Fault('precondition-failed', STALE), first.at);
    case 'invalid': {
      const issues = rows.map((row) => unknownPatient(within(row.at, `${patientPath(row.type)}.reference`)));
      return new Fault('invalid', 'the resource refers to an unknown Patient', { issues });
    }
    default:
      throw new RangeError(`the database refuses rows as ${fault.kind}`);
  }
}

/**
 * The Fault of a condition that prevented the write (FHIR R4 http, 3.1.0.5.2, 3.1.0.8.1, 3.1.0.11.2).
 *
 * @param origin the origin of the condition
 */
export function conditionFault(
  outcome: Exclude<ConditionOutcome, 'resolved'>,
  { type, at, isPatch = false, isBlind = false }: RowOrigin,
): Fault {
  if (isPatch && outcome === 'another-id') return overtaken(at);
  if (isBlind) {
    const message = `the conditional reference does not match exactly one ${type}: send an identifier that one ${type} has`;
    return located(new Fault('invalid', message, { code: 'not-found' }), at);
  }
  switch (outcome) {
    case 'ambiguous': {
      const message = `Several ${type} resources match the condition: make it more selective.`;
      return located(new Fault('precondition-failed', message, { code: 'multiple-matches' }), at);
    }
    case 'no-match':
      return located(new Fault('invalid', `no ${type} matches the conditional reference`, { code: 'not-found' }), at);
    // One answer for no resource and another resource, so that it does not reveal what is stored.
    case 'another-id': {
      const message = `the condition finds no ${type} with the id in the body: leave the id out, or read the resource again`;
      return located(malformedAt(`${type}.id`, message), at);
    }
  }
}

/**
 * @param rows the rows of one write or transaction
 * @param origins the origins of its writes, and of the resources that it requires
 * @param conditionOrigin the origin of a condition, by its ordinal
 * @throws Fault for the first condition that prevented the write, or for a rejected write
 */
export function requireDone(
  rows: readonly TransactionRow[],
  origins: readonly RowOrigin[],
  conditionOrigin: (ordinal: number) => RowOrigin,
): void {
  for (const row of rows) {
    if (row.part === 'condition' && row.outcome !== 'resolved') {
      throw conditionFault(row.outcome, conditionOrigin(row.ordinal));
    }
  }
  const failed = failedFault(rows);
  if (failed !== undefined) throw explainRows(failed, origins);
}
