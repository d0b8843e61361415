/** Links from the numbers of a feed to the messages or requests that they count, for staff with the permission. */
import type { Config } from '../../config.ts';
import type { Permission } from '../../permissions.ts';
import { linkTo } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';

type Query = Readonly<Record<string, string>>;

export interface FeedLinks {
  readonly key: (clientId: string) => string | undefined;
  readonly messages: (clientId: string, outcome?: 'AA' | 'AE' | 'AR') => string | undefined;
  readonly requests: (clientId: string, query?: Query) => string | undefined;
  readonly connections: (clientId: string) => string;
  readonly alerts: string;
}

/** The page of the connections of a key. */
export const connectionsPath = (clientId: string): string => `${PLACES.feeds.path}/feeds/${clientId}`;

/** @param today the instant of midnight at the site */
export function feedLinks(config: Config, permissions: ReadonlySet<Permission>, today: string): FeedLinks {
  const to = (
    { path, permission }: { readonly path: string; readonly permission: Permission },
    query: Query,
  ): string | undefined =>
    permissions.has(permission) ? `${linkTo(config, path)}?${new URLSearchParams(query).toString()}` : undefined;
  return {
    key: (clientId) =>
      permissions.has(PLACES.keys.permission) ? `${linkTo(config, PLACES.keys.path)}/${clientId}` : undefined,
    messages: (clientId, outcome) =>
      to(PLACES.messages, { clientId, from: today, ...(outcome === undefined ? {} : { outcome }) }),
    requests: (clientId, query = {}) => to(PLACES.requests, { clientId, range: '24h', ...query }),
    connections: (clientId) => linkTo(config, connectionsPath(clientId)),
    alerts: linkTo(config, PLACES.alerts.path),
  };
}
