/** The places of the console: group and title in the navigation, path, and the permission that shows it. */
import type { Permission } from '../../permissions.ts';

export const GROUPS = ['Watch', 'Connect', 'Site', 'Gateway'] as const;

interface Place {
  readonly group: (typeof GROUPS)[number];
  readonly path: string;
  readonly title: string;
  readonly permission: Permission;
}

/** In the order of the navigation. */
export const PLACES = {
  feeds: { group: 'Watch', path: '/admin', title: 'Feeds', permission: 'site.endpoints.read' },
  messages: { group: 'Watch', path: '/admin/messages', title: 'Messages', permission: 'site.messages.read' },
  requests: { group: 'Watch', path: '/admin/requests', title: 'Requests', permission: 'site.api_keys.read' },
  attention: { group: 'Watch', path: '/admin/attention', title: 'Attention', permission: 'site.messages.read' },
  merges: { group: 'Watch', path: '/admin/merges', title: 'Merges', permission: 'site.patients.unmerge' },
  alerts: { group: 'Watch', path: '/admin/alerts', title: 'Alerts', permission: 'site.endpoints.read' },
  traffic: { group: 'Watch', path: '/admin/traffic', title: 'Traffic', permission: 'site.endpoints.read' },
  keys: { group: 'Connect', path: '/admin/keys', title: 'API keys', permission: 'site.api_keys.read' },
  subscriptions: {
    group: 'Connect',
    path: '/admin/subscriptions',
    title: 'Subscriptions',
    permission: 'site.endpoints.read',
  },
  workbench: { group: 'Connect', path: '/admin/workbench', title: 'Workbench', permission: 'site.api_keys.read' },
  names: { group: 'Connect', path: '/admin/names', title: 'Names', permission: 'site.messages.read' },
  codeTables: { group: 'Connect', path: '/admin/code-tables', title: 'Code tables', permission: 'site.rules.read' },
  audit: { group: 'Site', path: '/admin/audit', title: 'Audit', permission: 'site.audit.read' },
  replays: { group: 'Site', path: '/admin/replays', title: 'Replays', permission: 'site.messages.replay' },
  people: { group: 'Site', path: '/admin/people', title: 'People', permission: 'site.sessions.end' },
  settings: { group: 'Site', path: '/admin/settings', title: 'Settings', permission: 'site.settings.read' },
  health: { group: 'Gateway', path: '/admin/health', title: 'Health', permission: 'site.endpoints.read' },
  signingKeys: { group: 'Gateway', path: '/admin/signing-keys', title: 'Signing keys', permission: 'gateway.operate' },
} as const satisfies Readonly<Record<string, Place>>;

/** The path of the place that a page belongs to. */
export type PlacePath = (typeof PLACES)[keyof typeof PLACES]['path'];
