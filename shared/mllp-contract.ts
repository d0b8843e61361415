/**
 * The contract between sidecar and edge: paths, headers, signed claims and limits. The sidecar frames and forwards bytes;
 * the edge makes every decision that needs a key, a site or the content.
 */
import * as z from 'zod';

/** `POST`: one raw message in, its ACK out. The edge answers 404 to every caller but a sidecar. */
export const MLLP_MESSAGES_PATH = '/internal/mllp/messages';
/** `GET`: the address ranges that active keys allow, so that the sidecar rejects others before it parses their bytes. */
export const MLLP_RANGES_PATH = '/internal/mllp/allowed-ranges';
/** `POST`: the sidecar's connections as JSON (`connectionReport`). The edge answers 204. */
export const MLLP_CONNECTIONS_PATH = '/internal/mllp/connections';

export const SIDECAR_TOKEN_AUDIENCE = 'svc-mllp-ingest';
/** The header `typ` of the sidecar's JWT, so that the edge accepts no other token in its place (RFC 8725 §3.11). */
export const SIDECAR_TOKEN_TYPE = 'mllp-sidecar+jwt';
/** The edge rejects a longer lifetime; the sidecar signs a new token for each attempt. */
export const SIDECAR_TOKEN_MAX_LIFETIME_SECONDS = 60;
export const SIDECAR_TOKEN_ALGORITHM = 'ES256';

/** The edge rejects larger HL7 messages over HTTP and MLLP (edge/docs/behaviour.md, Limits). */
export const MAX_HL7_MESSAGE_BYTES = 10 * 1024 * 1024;

/** The sidecar's defaults, which the console and the documentation show to the staff who connect a sender. */
export const MLLP_DEFAULTS = {
  /** The port that IANA assigns to HL7. */
  port: 2575,
  /** Without a byte from the peer. */
  idleSeconds: 30 * 60,
  /** From a frame's VT to its FS. */
  frameSeconds: 60,
  /** PROXY header and TLS handshake together. */
  openingSeconds: 10,
  /** From the first attempt to forward a message, while the edge is unreachable. */
  retrySeconds: 30,
} as const;

export const MLLP_CONTENT_TYPE = 'application/hl7-v2';

/**
 * Request header with the sidecar's version of this contract; absent means 1. The edge serves both: sidecars and edge
 * can be upgraded in any order.
 */
export const MLLP_CONTRACT_HEADER = 'mllp-contract';
export const MLLP_CONTRACT_VERSION = 2;

/**
 * Response header, from version 2 on, if the body contains two ACKs: the length of the accept acknowledgement in bytes.
 * The sidecar sends it first, in its own frame, and then the application acknowledgement.
 */
export const MLLP_ACCEPT_LENGTH_HEADER = 'mllp-accept-length';

/** Response header: `keep` or `close`, for the connection after the ACK. */
export const MLLP_CONNECTION_HEADER = 'mllp-connection';

/**
 * Response header of a message whose sender has an API key: the key and the sender, opaque to the sidecar. It returns the value
 * in its report of connections.
 */
export const MLLP_SENDER_HEADER = 'mllp-sender';

/** The most records of open, and of closed, connections in one report. */
export const MAX_CONNECTION_RECORDS = 500;
/** The edge rejects a larger report. */
export const MAX_CONNECTION_REPORT_BYTES = 6 * 1024 * 1024;

export const MAX_SENDER_LENGTH = 500;
/** The senders of a record; others are not in it. */
export const MAX_SENDERS = 10;

const milliseconds = z.number().int().nonnegative();

/** The open connections of a source, or connections that were alike and closed within a quarter of an hour. */
const connectionRecord = z.object({
  id: z.uuid(),
  src: z.string().max(64),
  isTls: z.boolean(),
  /** Subject of the peer's verified certificate. */
  tls: z.string().max(1024).optional(),
  /** Values of `MLLP_SENDER_HEADER`. */
  senders: z.array(z.string().max(MAX_SENDER_LENGTH)).max(MAX_SENDERS),
  /** When the first connection was opened. */
  openedAt: milliseconds,
  /** When the last one ended; null while it is open. */
  closedAt: milliseconds.nullable(),
  reason: z
    .string()
    .regex(/^[a-z-]{1,40}$/)
    .nullable(),
  connections: z.number().int().positive().max(1_000_000_000),
});
export type ConnectionRecord = z.infer<typeof connectionRecord>;

/** `open` replaces the earlier open records of the run. A closed record replaces the earlier one with its id. */
export const connectionReport = z.object({
  /** One process of a sidecar. */
  run: z.uuid(),
  open: z.array(connectionRecord).max(MAX_CONNECTION_RECORDS),
  closed: z.array(connectionRecord).max(MAX_CONNECTION_RECORDS),
});
export type ConnectionReport = z.infer<typeof connectionReport>;

/** The state that a sidecar reports when it requests the ranges. */
const sidecarState = z.object({
  version: z.string().max(64),
  /** Open MLLP connections. */
  connections: z.number().int().nonnegative().max(1_000_000),
});
export type SidecarState = z.infer<typeof sidecarState>;

/**
 * The claims of the sidecar's JWT; the audience is compared when its signature is verified. `src` is the peer's address
 * after the PROXY protocol, if any. `tls` is the subject of the peer's certificate. `sha256` is the base64url SHA-256 of the
 * request body, which is empty for GET.
 */
export const sidecarClaims = z.object({
  iss: z.string().min(1).max(255),
  aud: z.string(),
  iat: z.number().int(),
  exp: z.number().int(),
  jti: z.uuid(),
  src: z.string().max(64),
  tls: z.string().max(1024).optional(),
  sha256: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  // The state changes no answer, so it needs no new version of the contract: an absent or unknown state is accepted.
  state: sidecarState.optional().catch(undefined),
});
export type SidecarClaims = z.infer<typeof sidecarClaims>;

/** The answer of `MLLP_RANGES_PATH`: canonical CIDR ranges, `*` for any, valid for `maxAgeSeconds`. */
export const allowedRanges = z.object({ ranges: z.array(z.string()), maxAgeSeconds: z.number().int().positive() });
export type AllowedRanges = z.infer<typeof allowedRanges>;

/*
 * Status of POST:
 * - 200: the body is the ACK to send, or two ACKs.
 * - 204: the message is stored, and its sender requested no ACK.
 * - 404: the caller is not a sidecar of this deployment.
 * - 5xx, or no answer: the message may not be stored, try again.
 */
