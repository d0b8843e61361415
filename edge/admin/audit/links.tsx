/** Links of the audit's page, and its actors. */
import type { PropsWithChildren } from 'hono/jsx';

import { clientIdOf } from '../../../shared/oauth/client-id.ts';
import { isResourceType } from '../../../shared/resource-type.ts';
import type { AuditRow } from '../../store/admin-audit.ts';
import { actorOf } from './view.ts';

export type Query = Readonly<Record<string, string>>;

/** Paths of pages; undefined without the permission to see them. */
export interface AuditLinks {
  readonly audit: string;
  readonly messages: string | undefined;
  readonly keys: string | undefined;
  readonly alerts: string | undefined;
  readonly subscriptions: string | undefined;
  readonly settings: string | undefined;
  readonly people: string | undefined;
  readonly search: string | undefined;
}

/** The page with other filters, from its beginning. */
export function addressOf({ audit }: AuditLinks, address: Query, change: Query): string {
  const { cursor: _, ...rest } = address;
  const given = Object.entries({ ...rest, ...change }).filter(([, value]) => value !== '');
  return given.length === 0 ? audit : `${audit}?${new URLSearchParams(given).toString()}`;
}

const KINDS = {
  key: 'API key',
  person: 'person',
  sidecar: 'sidecar',
  operator: 'operator',
  gateway: 'gateway',
} as const;

export const Linked = ({ href, children }: PropsWithChildren<{ href: string | undefined }>) =>
  href === undefined ? <>{children}</> : <a href={href}>{children}</a>;

/** The page of a resource or another thing; undefined without one. */
export function pageOf(links: AuditLinks, type: string, id: string): string | undefined {
  const { messages, keys } = links;
  switch (type) {
    case 'Hl7Message':
      return messages === undefined ? undefined : `${messages}/${id}`;
    case 'ApiKey':
      return keys === undefined ? undefined : `${keys}/${clientIdOf(id)}`;
    case 'ConsoleSession':
      return links.people;
    case 'Alert':
      return links.alerts;
    case 'Subscription':
      return links.subscriptions === undefined ? undefined : `${links.subscriptions}/${id}`;
    case 'Site':
      return links.settings;
    case 'BulkExport':
      return undefined;
    default:
      return messages === undefined || !isResourceType(type) ? undefined : `${messages}/resources/${type}/${id}`;
  }
}

interface ActorProps {
  readonly row: Pick<AuditRow, 'actor_kind' | 'actor' | 'client_id' | 'called'>;
  readonly address: Query;
  readonly links: AuditLinks;
}

/** The actor by name, with a link to the key, and to the actor's rows. */
export const Actor = ({ row, address, links }: ActorProps) => {
  const name = actorOf(row);
  const isKey = row.actor_kind === 'key' && links.keys !== undefined;
  const shown = row.called ?? name;
  return (
    <>
      <Linked href={isKey ? `${links.keys}/${row.client_id}` : undefined}>
        <span title={name}>{shown}</span>
      </Linked>{' '}
      {shown === row.actor_kind ? null : <span class="quiet">{KINDS[row.actor_kind]}</span>}{' '}
      {row.actor_kind === 'gateway' ? null : (
        <small>
          <a href={addressOf(links, address, { actor: name, view: '' })} aria-label={`All rows of ${shown}`}>
            all rows
          </a>
        </small>
      )}
    </>
  );
};

export const OfPatient = ({ id, address, links }: { id: string; address: Query; links: AuditLinks }) => (
  <>
    {' '}
    <small>
      <a href={addressOf(links, address, { patient: id, view: '' })} aria-label={`All rows of patient ${id}`}>
        all rows
      </a>
    </small>
  </>
);
