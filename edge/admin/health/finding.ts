/** What is found when a deployment is looked at, by the doctor (`npm run doctor`) or by the console: one thing each. */
import { Fault } from '../../../shared/fault.ts';

export interface Finding {
  /**
   * `doubtful` only a person can judge, such as what a stranger may have done; `unknown` was not looked at, and `next` says
   * what is needed for it.
   */
  readonly state: 'good' | 'bad' | 'doubtful' | 'unknown';
  readonly subject: string;
  readonly says: string;
  /** What a person does about it. */
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
  says: 'not looked at',
  next,
});

/** The findings of a check; one that breaks off is a finding too. */
export async function findingsOf(
  subject: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const told = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    const says = error instanceof Fault && error !== cause ? `${error.message} (${told})` : told;
    return [bad(subject, says, 'see that this address is reached from here, and what answers there')];
  }
}
