/** Request ids. The gateway makes UUIDs of version 7, which contain the time. */

/** 8 to 64 characters that are safe in a log line, a header and an ACK. Hono's `request-id` allows any length, but no dot. */
const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;

/** True if an incoming request id may be used: a proxy or a sidecar sets it. */
export const isRequestId = (text: string): boolean => REQUEST_ID.test(text);
