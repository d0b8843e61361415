/** A resource of the site, as an administrator reads it: a version, its messages, and the origin of each value. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { isResourceType } from '../../../shared/resource-type.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { messagesOfResource, type WrittenByRow } from '../../store/admin-message.ts';
import { inSite } from '../../store/in-site.ts';
import { changedVersions, registersOf } from '../../store/lineage.ts';
import { withContent } from '../../store/page.ts';
import type { MessageFacts } from '../../store/provenance.ts';
import { currentVersion, readResource } from '../../store/resource-by-id.ts';
import { parseStored, type StoredResource } from '../../store/resource.ts';
import { type Traced, traceValues } from './lineage.ts';

export const resourceQuery = z.object({
  version: z.coerce
    .number({ error: 'must be a number' })
    .int()
    .min(1, 'must be a number from 1 on')
    .max(2 ** 31 - 1)
    .optional(),
});

export interface ResourceView {
  readonly stored: StoredResource;
  readonly current: number;
  readonly messages: readonly WrittenByRow[];
  /** In the order of the resource. */
  readonly values: readonly Traced[];
  /** The oldest version that was compared. */
  readonly comparedFrom: number;
}

/**
 * The audit records the reading and the patient.
 *
 * @throws Fault `not-found` where the site has no such resource or version
 */
export async function findResource(
  database: Database,
  site: string,
  type: string,
  id: string,
  version: number | undefined,
): Promise<ResourceView> {
  const missing = () => new Fault('not-found', 'no such resource');
  if (!isResourceType(type) || !isUuid(id)) throw missing();
  const [[row], [current], messages, versions, [registers]] = await inSite(database, site).batch([
    readResource(site, type, id, version),
    currentVersion(site, type, id),
    messagesOfResource(site, type, id),
    changedVersions(site, type, id, version),
    registersOf(site, type, id),
  ]);
  if (row === undefined || current === undefined) throw missing();
  const stored = withContent(row);
  const members = Object.keys(parseStored(stored));
  // The registers are those of the current version.
  const values = traceValues(members, versions, version === undefined ? registers : undefined);
  const comparedFrom = versions[0]?.oldest ?? stored.version;
  return { stored, current: current.version, messages, values, comparedFrom };
}

const MAX_VALUES = 5000;

export function viewLineage({ stored, values, comparedFrom }: ResourceView) {
  const shown = values.slice(0, MAX_VALUES);
  const versions = new Map(shown.flatMap(({ version }) => (version === undefined ? [] : [[version.version, version]])));
  return {
    reference: `${stored.type}/${stored.id}`,
    version: stored.version,
    comparedFrom,
    values: shown.map(({ version, statedBy, ...traced }) => ({
      ...traced,
      since: version?.version ?? null,
      statedBy: statedBy && viewMessageFacts(statedBy),
    })),
    isMore: values.length > MAX_VALUES,
    versions: [...versions.values()].map(({ version, at, keyName, facts: { clientId, person, message } }) => ({
      version,
      at,
      clientId,
      keyName,
      person,
      message: message && viewMessageFacts(message),
    })),
  };
}

const viewMessageFacts = ({ id, receivedAt, type, controlId, application, facility, forgottenAt }: MessageFacts) => ({
  messageId: id,
  receivedAt,
  messageType: type,
  controlId,
  sendingApplication: application,
  sendingFacility: facility,
  forgottenAt,
});
