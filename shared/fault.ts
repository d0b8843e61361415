/**
 * The few kinds of failure. Whatever goes wrong because of the input, the caller or a dependency is a `Fault`; each
 * surface maps it to its own wire format in one place. Anything else that is thrown is a bug of ours.
 */

/** What went wrong, in terms every surface can map: OAuth JSON, OperationOutcome, HL7 ACK, admin page. */
export type FaultKind =
  | 'malformed' // cannot be read as what it claims to be
  | 'invalid' // read, understood, and refused for its content
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'conflict'
  | 'precondition-failed'
  | 'timeout'
  | 'too-large'
  | 'unsupported-media-type'
  | 'throttled'
  | 'unavailable';

/** One located fault, fit to be shown to the caller. */
export interface Issue {
  /** Code in the vocabulary of the surface: an R4 IssueType, an HL7 table 0357 code, an OAuth error. */
  readonly code: string;
  /** A sentence for a developer. Never patient data, never a token. */
  readonly message: string;
  /** Where: FHIRPath (`Patient.name[0].given`), HL7 (`PID^1^3^1`) or the name of a form field. */
  readonly at?: string;
}

export interface FaultOptions {
  readonly issues?: readonly Issue[];
  /** Stable code of the surface when the kind alone does not say it (`invalid_scope`, `insufficient_scope`). */
  readonly code?: string | undefined;
  /** 0-based positions, in what one of our own database calls was given, of the rows that it refused. */
  readonly rows?: readonly number[] | undefined;
  /** For the log only. */
  readonly cause?: unknown;
  /** Extra response headers: `Retry-After`, `Allow`, `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An expected failure with a message that may be shown, and a private `cause` that goes to the log. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly kind: FaultKind;
  readonly code: string | undefined;
  readonly issues: readonly Issue[];
  readonly rows: readonly number[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: FaultKind, message: string, options: FaultOptions = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.code = options.code;
    this.issues = options.issues ?? [];
    this.rows = options.rows;
    this.headers = options.headers ?? {};
  }

  /** The same failure, save for these options. */
  with(options: FaultOptions): Fault {
    const { kind, message, code, issues, rows, headers, cause } = this;
    return new Fault(kind, message, { code, issues, rows, headers, cause, ...options });
  }
}
