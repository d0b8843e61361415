/** How the doctor asks: as anybody would. */
const TIMEOUT_MS = 12_000;

/** Redirects are shown, not followed. @throws when nothing answers in time */
export const ask = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
