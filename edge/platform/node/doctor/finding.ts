/** What the doctor found, one thing each. */

export interface Finding {
  /** `unknown` was not looked at; `next` then says what is needed for it. */
  readonly state: 'good' | 'bad' | 'unknown';
  readonly subject: string;
  readonly says: string;
  /** What a person does about it. */
  readonly next?: string;
}

export const good = (subject: string, says: string): Finding => ({ state: 'good', subject, says });
export const bad = (subject: string, says: string, next: string): Finding => ({ state: 'bad', subject, says, next });
export const unknown = (subject: string, next: string): Finding => ({
  state: 'unknown',
  subject,
  says: 'not looked at',
  next,
});

const TIMEOUT_MS = 12_000;

/** Asks as anybody would; redirects are shown, not followed. @throws when nothing answers in time */
export const ask = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });

/** The findings of a check; one that breaks off is a finding too. */
export async function findingsOf(
  subject: string,
  check: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const says = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    return [bad(subject, says, 'see that this address is reached from here, and what answers there')];
  }
}
