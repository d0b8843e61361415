/**
 * The kinds of expected failure. A failure caused by the input, the caller or a dependency is a `Fault`. Each surface
 * maps it to its wire format in one place. Any other exception is a bug in the gateway.
 */

export type FaultKind =
  | 'malformed' // The input does not parse as its declared format.
  | 'invalid' // The input parses, but its content is rejected.
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

/** One located fault that may be shown to the caller. */
export interface Issue {
  /** A code of the surface: an R4 IssueType, an HL7 table 0357 code, an OAuth error. */
  readonly code: string;
  /** A sentence for a developer, without patient data and tokens. */
  readonly message: string;
  /** A FHIRPath (`Patient.name[0].given`), an HL7 location (`PID^1^3^1`) or the name of a form field. */
  readonly at?: string;
  /** In a text with lines, such as CSV; from 1. */
  readonly line?: number;
}

export type Place = Pick<Issue, 'at' | 'line'>;

/** A place for people: `csv, line 3`. */
export const printPlace = ({ at = '', line }: Place): string =>
  [at, line === undefined ? '' : `line ${line}`].filter((part) => part !== '').join(', ');

export interface FaultOptions {
  readonly issues?: readonly Issue[];
  /** Stable code of the surface if the kind does not determine it (`invalid_scope`, `insufficient_scope`). */
  readonly code?: string | undefined;
  /** 0-based positions of the rows that PostgreSQL rejected, in the list that the database call received. */
  readonly rows?: readonly number[] | undefined;
  /** Only for the log. */
  readonly cause?: unknown;
  /** Extra response headers: `Retry-After`, `Allow`, `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An expected failure with a public message, and a private `cause` for the log. */
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

  /** A copy of the fault with other options. */
  with(options: FaultOptions): Fault {
    const { kind, message, code, issues, rows, headers, cause } = this;
    return new Fault(kind, message, { code, issues, rows, headers, cause, ...options });
  }
}

/** @returns undefined if `read` throws a Fault */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
