/** Request ids: the gateway's own are UUIDs of version 7, which say when they were made. */

/** 8 to 64 characters that are harmless in a log line, in a header and in an ACK. Hono's `request-id` allows one of any length, and none with a dot. */
const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;

/** Whether a request may bring this id: a proxy in front or a sidecar sets it. */
export const isRequestId = (text: string): boolean => REQUEST_ID.test(text);
