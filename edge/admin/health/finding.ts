/** The result of one check of a deployment, by the doctor (`npm run doctor`) or by the console. */
import { Fault } from '../../../shared/fault.ts';

export interface Finding {
  /** `doubtful`: a person must decide. `unknown`: not checked; `next` says what the check needs. */
  readonly state: 'good' | 'bad' | 'doubtful' | 'unknown';
  readonly subject: string;
  readonly says: string;
  /** The next step of the operator. */
  readonly next?: string | undefined;
}

export const good = (subject: string, says: string): Finding => ({ state: 'good', subject, says });
export const bad = (subject: string, says: string, next: string): Finding => ({ state: 'bad', subject, says, next });
export const doubtful = (subject: string, says: string, next: string): Finding => ({
  state: 'doubtful',
  subject,
  says,
  next,
});
export const unknown = (subject: string, next: string): Finding => ({
  state: 'unknown',
  subject,
  says: 'not checked',
  next,
});

/** The findings of a check; a check that throws is a finding too. */
export async function findingsOf(
  subject: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (error) {
    return [failed(subject, error)];
  }
}

/** PostgreSQL answered, and rejected the connection: the next step by SQLSTATE. */
const REJECTED: Readonly<Record<string, string>> = {
  '3D000': 'create the database, then npm run migrate: edge/docs/deploy.md',
  '28P01': 'check the user and the password of DATABASE_URL: npm run migrate with LOGIN_URL sets them',
  '28000': 'check the user of DATABASE_URL, and pg_hba.conf of the server',
};

/** The finding of a check that threw. */
export function failed(subject: string, error: unknown): Finding {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  const says = error instanceof Fault && error !== cause ? `${error.message} (${text})` : text;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return bad(subject, says, REJECTED[code] ?? 'check that this machine reaches the address, and what answers there');
}
