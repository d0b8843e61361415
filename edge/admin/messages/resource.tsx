/** A resource of the site, as an administrator looks at it: a version of it, and the messages that made it. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { printJson } from '../../../shared/json.ts';
import { pretty } from '../../../shared/pretty-json.ts';
import { isResourceType } from '../../../shared/resource-type.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { messagesOfResource, type WrittenByRow } from '../../store/admin-message.ts';
import { inSite } from '../../store/in-site.ts';
import { parseStored, type StoredResource } from '../../store/resource.ts';
import { currentVersion, readResource } from '../../store/resource-by-id.ts';
import { withContent } from '../../store/page.ts';
import { Code, Empty, Fact, Row, Table, When } from '../web/ui.tsx';

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
  const [[stored], [current], messages] = await inSite(database, site).batch([
    readResource(site, type, id, version),
    currentVersion(site, type, id),
    messagesOfResource(site, type, id),
  ]);
  if (stored === undefined || current === undefined) throw missing();
  return { stored: withContent(stored), current: current.version, messages };
}

/** The references to other resources of the site. */
const referencesIn = (text: string): string[] => [
  ...new Set(
    [...text.matchAll(/"([A-Z][A-Za-z]+\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/g)].map(
      ([, found = '']) => found,
    ),
  ),
];

const MAX_REFERENCES = 20;

export const ResourcePage = ({ resource, path }: { resource: ResourceView; path: string }) => {
  const { stored, current, messages } = resource;
  const { type, id, version } = stored;
  const own = `${path}/resources/${type}/${id}`;
  const json = pretty(printJson(parseStored(stored)));
  const references = referencesIn(json).filter((each) => isResourceType(each.split('/')[0] ?? ''));
  const link = (to: number, title: string) => <a href={`${own}?version=${to}`}>{title}</a>;
  return (
    <>
      <dl class="facts">
        <Fact name="Version">
          {version} of {current} {version > 1 ? link(version - 1, 'the one before') : null}{' '}
          {version < current ? link(version + 1, 'the next') : null}{' '}
          {version < current ? <a href={own}>the current one</a> : null}
        </Fact>
        <Fact name="Written">
          <When at={stored.last_updated} />
        </Fact>
        {references.length === 0 ? null : (
          <Fact name="Refers to">
            <ul class="plain">
              {references.slice(0, MAX_REFERENCES).map((reference) => (
                <li>
                  <a href={`${path}/resources/${reference}`}>{reference}</a>
                </li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
      <section aria-labelledby="content">
        <h2 id="content">Content</h2>
        <Code text={json} label="The resource" copy />
      </section>
      <section aria-labelledby="messages">
        <h2 id="messages">Messages that wrote a version</h2>
        {messages.length === 0 ? (
          <Empty>None: a FHIR client wrote it.</Empty>
        ) : (
          <Table label="Messages" head={['Received', 'Type', 'Control id', 'Version']}>
            {messages.map((message) => (
              <Row>
                <th scope="row">
                  <a href={`${path}/${message.message_id}`}>
                    <When at={message.received_at} />
                  </a>
                </th>
                <td>{message.message_type}</td>
                <td class="ids">
                  <code>{message.control_id}</code>
                </td>
                <td>{message.version}</td>
              </Row>
            ))}
          </Table>
        )}
      </section>
    </>
  );
};
