/**
 * Longer than any client keeps an idle connection, so that a server closes none just as it is used again. A POST on such a
 * connection fails.
 */
export const KEEP_ALIVE_MS = 600_000;
