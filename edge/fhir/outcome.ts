/**
 * OperationOutcome: the form of all errors of this surface (FHIR R4 http, 3.1.0.1.4). Every kind of
 * failure has its R4 IssueType here; statuses and headers are the HTTP layer's.
 */
import type { Fault, FaultKind, Issue } from '../../shared/fault.ts';
import type { JsonObject } from '../../shared/json.ts';

/** http://hl7.org/fhir/issue-type, the codes a surface or the validator may give an issue. */
const ISSUE_TYPES = new Set([
  'invalid',
  'structure',
  'required',
  'value',
  'invariant',
  'security',
  'login',
  'unknown',
  'expired',
  'forbidden',
  'suppressed',
  'processing',
  'not-supported',
  'duplicate',
  'multiple-matches',
  'not-found',
  'deleted',
  'too-long',
  'code-invalid',
  'extension',
  'too-costly',
  'business-rule',
  'conflict',
  'transient',
  'lock-error',
  'no-store',
  'exception',
  'timeout',
  'incomplete',
  'throttled',
  'informational',
]);

/** The IssueType of a Fault without a more precise one. */
export const ISSUE_TYPE: Readonly<Record<FaultKind, string>> = {
  malformed: 'invalid',
  invalid: 'business-rule',
  unauthenticated: 'login',
  forbidden: 'forbidden',
  'not-found': 'not-found',
  'method-not-allowed': 'not-supported',
  'not-acceptable': 'not-supported',
  conflict: 'conflict',
  'precondition-failed': 'conflict',
  timeout: 'timeout',
  'too-large': 'too-long',
  'unsupported-media-type': 'not-supported',
  throttled: 'throttled',
  unavailable: 'transient',
};

export type Severity = 'fatal' | 'error' | 'warning' | 'information';

/** `http.` and a parameter's or header's name is a location; anything else is FHIRPath (R4 OperationOutcome.issue). */
function place(at: string): JsonObject {
  return at.startsWith('http.') ? { location: [at] } : { expression: [at] };
}

function issueOf(severity: Severity, { code, message, at }: Issue, fallback: string): JsonObject {
  return {
    severity,
    code: ISSUE_TYPES.has(code) ? code : fallback,
    diagnostics: message,
    ...(at === undefined ? {} : place(at)),
  };
}

/**
 * @param issues at least one (R4: `issue` is 1..*)
 * @param warnings added to the issues
 */
export function outcome(severity: Severity, issues: readonly Issue[], warnings: readonly Issue[] = []): JsonObject {
  const of = (one: Severity, some: readonly Issue[]) => some.map((issue) => issueOf(one, issue, 'processing'));
  return { resourceType: 'OperationOutcome', issue: [...of(severity, issues), ...of('warning', warnings)] };
}

function issueTypeOf({ code, kind }: Fault): string {
  return code !== undefined && ISSUE_TYPES.has(code) ? code : ISSUE_TYPE[kind];
}

/** The issues of a Fault; a Fault without issues is one issue. */
export function issuesOf(fault: Fault): readonly Issue[] {
  return fault.issues.length > 0 ? fault.issues : [{ code: issueTypeOf(fault), message: fault.message }];
}

/** The OperationOutcome of a Fault; undefined: a bug of the gateway, whose details stay in the log. */
export function outcomeOf(fault: Fault | undefined): JsonObject {
  if (fault === undefined) {
    const message = 'internal error; nothing was stored. Report the X-Request-Id of this response.';
    return outcome('fatal', [{ code: 'exception', message }]);
  }
  const fallback = issueTypeOf(fault);
  return { resourceType: 'OperationOutcome', issue: issuesOf(fault).map((issue) => issueOf('error', issue, fallback)) };
}
