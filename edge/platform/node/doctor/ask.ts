/** The doctor's requests, without credentials. */
const TIMEOUT_MS = 12_000;

/** Redirects are reported, not followed. @throws if there is no answer in time */
export const ask = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
