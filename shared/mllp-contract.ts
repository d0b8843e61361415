/**
 * What the sidecar and the edge say to each other: one path, the claims the sidecar signs, the limits both keep. The
 * sidecar frames and forwards bytes; everything that needs knowledge of keys, sites or content is decided by the edge.
 */
import * as z from 'zod';

/** `POST`: one raw message in, its ACK out. Any other caller is told 404, as if the path were not there. */
export const MLLP_MESSAGES_PATH = '/internal/mllp/messages';
/** `GET`: the address ranges that some active key allows, so that others are refused before their bytes are parsed. */
export const MLLP_RANGES_PATH = '/internal/mllp/allowed-ranges';

export const SIDECAR_TOKEN_AUDIENCE = 'svc-mllp-ingest';
/** The header `typ` of the sidecar's JWT, so that no other token of ours can be taken for one (RFC 8725 §3.11). */
export const SIDECAR_TOKEN_TYPE = 'mllp-sidecar+jwt';
/** The edge refuses a longer life; the sidecar signs each attempt anew. */
export const SIDECAR_TOKEN_MAX_LIFETIME_SECONDS = 60;
export const SIDECAR_TOKEN_ALGORITHM = 'ES256';

/** HL7 messages over 1 MiB are refused over HTTP and over MLLP (edge/docs/behaviour.md, Limits). */
export const MAX_HL7_MESSAGE_BYTES = 1024 * 1024;

/** What a sidecar does unless its operator says otherwise, told to whoever connects a sender. */
export const MLLP_DEFAULTS = {
  /** 2575 is HL7's own (IANA). */
  port: 2575,
  /** Without any byte. */
  idleSeconds: 30 * 60,
  /** From a frame's VT to its end. */
  frameSeconds: 60,
  /** For the PROXY header and the TLS handshake together. */
  openingSeconds: 10,
  /** While the edge is away, from a message's first try. */
  retrySeconds: 30,
} as const;

export const MLLP_CONTENT_TYPE = 'application/hl7-v2';

/**
 * Request header: the version of this contract that a sidecar speaks; one that says none speaks the first. The edge serves
 * both, so that sidecars and edge are renewed in any order.
 */
export const MLLP_CONTRACT_HEADER = 'mllp-contract';
export const MLLP_CONTRACT_VERSION = 2;

/**
 * Response header, from version 2 on, where two ACKs are to be sent: so many bytes of the body are the accept
 * acknowledgement, which goes first in a frame of its own, and the rest is the application's.
 */
export const MLLP_ACCEPT_LENGTH_HEADER = 'mllp-accept-length';

/** Response header: what the sidecar does with the connection after it wrote the ACK, `keep` or `close`. */
export const MLLP_CONNECTION_HEADER = 'mllp-connection';

/** What a sidecar says of itself when it asks for the ranges. */
export const sidecarState = z.object({
  /** Of its release. */
  version: z.string().max(64),
  /** That are open over MLLP. */
  connections: z.number().int().nonnegative().max(1_000_000),
});
export type SidecarState = z.infer<typeof sidecarState>;

/**
 * The claims of the sidecar's JWT, whose audience is compared as its signature is verified. `src` is the peer's address as the listener saw it (after PROXY protocol, if any),
 * `tls` the subject of the peer's certificate, `sha256` the base64url SHA-256 of the request body (empty body for GET).
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
  // It changes no answer, so no version of the contract is made for it: who says nothing, or what is not understood, is served alike.
  state: sidecarState.optional().catch(undefined),
});
export type SidecarClaims = z.infer<typeof sidecarClaims>;

/** The answer of `MLLP_RANGES_PATH`: CIDR ranges in canonical text, `*` for any, valid for `maxAgeSeconds`. */
export const allowedRanges = z.object({ ranges: z.array(z.string()), maxAgeSeconds: z.number().int().positive() });
export type AllowedRanges = z.infer<typeof allowedRanges>;

/*
 * Status of POST: 200 the body is the ACK to send, or two of them; 204 the message is stored and its sender asked for no ACK;
 * 404 the caller is no sidecar of ours; 5xx or no answer: nothing is known to be stored, try again.
 */
