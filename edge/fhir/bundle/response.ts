/** The response Bundle: one entry for each of the request's, in its order (FHIR R4 http, 3.1.0.11.3). */
import type { Fault } from '../../../shared/fault.ts';
import { printJson } from '../../../shared/json.ts';
import { FAULT_STATUS } from '../../http/fault-status.ts';
import { bundleText, separated } from '../bundle-text.ts';
import type { Answer } from '../interaction.ts';
import { outcomeOf } from '../outcome.ts';

/** Reason phrases of RFC 9110 §15, for Bundle.entry.response.status. */
const PHRASES: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
};

const statusText = (status: number): string => `${status} ${PHRASES[status] ?? ''}`.trim();

// The body is not searched, because V8 would copy its parts into one text.
export function answerEntry({ status, headers, body, isOutcome = false, fullUrl, lastUpdated }: Answer): string {
  const response = {
    status: statusText(status),
    ...(headers['Location'] === undefined ? {} : { location: headers['Location'] }),
    ...(headers['ETag'] === undefined ? {} : { etag: headers['ETag'] }),
    ...(lastUpdated === undefined ? {} : { lastModified: lastUpdated }),
  };
  const printed = JSON.stringify(response);
  const members = [
    ...(fullUrl === undefined ? [] : [`"fullUrl":${JSON.stringify(fullUrl)}`]),
    ...(body === null || isOutcome ? [] : [`"resource":${body}`]),
    `"response":${isOutcome ? `${printed.slice(0, -1)},"outcome":${body}}` : printed}`,
  ];
  return `{${separated(members)}}`;
}

/** @param fault why the entry of a batch failed */
export function faultEntry(fault: Fault): string {
  return `{"response":${printJson({ status: statusText(FAULT_STATUS[fault.kind]), outcome: outcomeOf(fault) })}}`;
}

export function responseBundle(type: 'batch' | 'transaction', entries: readonly string[]): Answer {
  return { status: 200, headers: {}, body: bundleText({ type: `${type}-response` }, [], entries) };
}
