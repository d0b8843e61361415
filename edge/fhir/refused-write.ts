/** What the database refuses of a write, in the words and at the place that the writer can act on. */
import { Fault, type Issue } from '../../shared/fault.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { type ConditionOutcome, failedFault, type TransactionRow } from '../store/transaction.ts';
import { issuesOf } from './outcome.ts';
import { patientPath, unknownPatient } from './patient-reference.ts';

/** Where a row of the database call comes from: `at` is `Bundle.entry[2]`, or null for a request of its own. */
export interface RowOrigin {
  readonly type: ResourceType;
  readonly at: string | null;
  /** It was made for the version that was read just before. */
  readonly isPatch?: boolean;
  /** Its condition searched a type that the token may not read (conditions.ts): what it found is not to be distinguished. */
  readonly isBlind?: boolean;
}

/** `Patient.name[0]` within an entry is `Bundle.entry[2].resource.name[0]`. */
export function within(at: string | null, path: string): string {
  return at === null ? path : `${at}.resource${path.replace(/^[A-Za-z]+/, '')}`;
}

/** An issue of an entry, located in the bundle. */
export function issueWithin(at: string, issue: Issue): Issue {
  const place = issue.at === undefined || issue.at.startsWith('http.') ? at : within(at, issue.at);
  return { ...issue, at: place };
}

/** The server's ids are the only ones, so an update cannot make one. Another site's id is as unknown as any. */
export function unknownId(type: ResourceType): Fault {
  return new Fault(
    'not-found',
    `no ${type} with this id in the site of the access token. Ids are assigned by the server: create with ` +
      `POST ${type}, or with a conditional update, PUT ${type}?[search parameters], and a body without an id`,
  );
}

/** The Fault at an entry of a bundle, or as it is. */
function located(fault: Fault, at: string | null): Fault {
  if (at === null) return fault;
  return fault.with({ issues: issuesOf(fault).map((issue) => issueWithin(at, issue)) });
}

const STALE =
  'the resource is not as If-Match, If-None-Match or If-Unmodified-Since has it: read it again, apply the change to what ' +
  'it has become';
const OVERTAKEN =
  'another request, or another entry of the Bundle, changed the resource while it was patched: nothing was patched. Send it again';
const TWICE = 'two entries would write one resource: leave one of them out';
const STALE_OR_TWICE =
  'an entry is not as its ifMatch or ifNoneMatch has it, or two entries would write one resource: check the versions, and ' +
  'send entries for one resource in separate Bundles';

/** What was patched is not what is there now; who runs the request asks again (serve.ts). */
const overtaken = (at: string | null): Fault => located(new Fault('conflict', OVERTAKEN), at);

/**
 * A Fault of the database call that is about rows of ours, in terms of what was sent; any other comes back as it is.
 *
 * @param origins of the rows, in the order in which they were sent
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
 * Why a condition kept everything from being written (FHIR R4 http, 3.1.0.5.2, 3.1.0.8.1, 3.1.0.11.2).
 *
 * @param origin the condition's
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
      const message = `several ${type} resources match the condition: make it more selective`;
      return located(new Fault('precondition-failed', message, { code: 'multiple-matches' }), at);
    }
    case 'no-match':
      return located(new Fault('invalid', `no ${type} matches the conditional reference`, { code: 'not-found' }), at);
    // Nothing found and another found are one answer, which says nothing of what is stored.
    case 'another-id': {
      const message = `the condition finds no ${type} with the id in the body: leave the id out, or read the resource again`;
      return located(new Fault('malformed', message, { issues: [{ code: 'value', message, at: `${type}.id` }] }), at);
    }
  }
}

/**
 * @param rows of one write or transaction
 * @param origins of its writes, and of the resources that it requires
 * @param conditionOrigin of a condition, by its ordinal
 * @throws Fault for the first condition that kept everything from being written, or for a write that was refused
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
