/** A resource as the body of an answer, with the headers that go with a version (FHIR R4 http, 3.1.0.1.5, 3.1.0.2). */
import type { Issue } from '../../shared/fault.ts';
import { type JsonObject, printJson } from '../../shared/json.ts';
import { parseStored, renderResource, type StoredResource } from '../store/resource.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Config } from '../config.ts';
import { etagOf, lastModifiedOf } from './conditional-headers.ts';
import { type Part, subset } from './subset.ts';
import type { Answer, RequestContext } from './interaction.ts';
import { outcome } from './outcome.ts';
import { unknownCodes } from './validate/unknown-codes.ts';

/** A CHECK of the table limits the type of a row. */
export interface Stored extends StoredResource {
  readonly type: ResourceType;
}

export function versionHeaders({ version, last_updated }: Pick<StoredResource, 'version' | 'last_updated'>): {
  readonly ETag: string;
  readonly 'Last-Modified': string;
} {
  return { ETag: etagOf(version), 'Last-Modified': lastModifiedOf(last_updated) };
}

/** `{base}/fhir` of the deployment. */
export const rootOf = ({
  INTEGRATION_FHIR_PUBLIC_BASE_URL: base,
}: Pick<Config, 'INTEGRATION_FHIR_PUBLIC_BASE_URL'>): string => `${base ?? ''}/fhir`;

export const urlOf = (root: string, type: string, id: string): string => `${root}/${type}/${id}`;

/** The text of the resource, or of the requested part. */
export function resourceText(type: ResourceType, stored: StoredResource, part: Part | null): string {
  return part === null ? renderResource(stored) : printJson(subset(type, parseStored(stored), part));
}

const DONE = {
  created: 'created',
  updated: 'updated',
  unchanged: 'unchanged: the content was the same, so there is no new version',
  matched: 'found: nothing was created',
} as const;

/**
 * The answer to a write: `Location` and version always, the body as `Prefer: return` says.
 *
 * @param mayRead true where the caller may see content that it did not send
 */
export function writeAnswer(
  context: RequestContext,
  stored: Stored,
  done: keyof typeof DONE,
  mayRead: boolean,
): Answer {
  const fullUrl = urlOf(context.root, stored.type, stored.id);
  const headers = { Location: `${fullUrl}/_history/${stored.version}`, ...versionHeaders(stored) };
  const status = done === 'created' ? 201 : 200;
  const body = (): string | null => {
    switch (context.prefer.return) {
      case 'minimal':
        return null;
      case 'OperationOutcome': {
        const message = `${stored.type}/${stored.id} version ${stored.version}: ${DONE[done]}`;
        // R4 http, 3.1.0.1.10.1: "hints and warnings about the operation", for a client that requests them.
        return printJson(information(message, mayRead ? unknownCodes(stored.type, parseStored(stored)) : []));
      }
      case 'representation':
        return mayRead ? renderResource(stored) : null;
    }
  };
  const isOutcome = context.prefer.return === 'OperationOutcome';
  return { status, headers, body: body(), isOutcome, fullUrl, lastUpdated: stored.last_updated };
}

export function information(message: string, warnings: readonly Issue[] = []): JsonObject {
  return outcome('information', [{ code: 'informational', message }], warnings);
}
