/** The places of the console, as its navigation names them, and what one must be allowed to go there. */
import type { Permission } from '../staff/permissions.ts';

interface Place {
  readonly path: string;
  readonly title: string;
  readonly permission: Permission;
}

export const PLACES = {
  overview: { path: '/admin', title: 'Overview', permission: 'site.endpoints.read' },
  keys: { path: '/admin/keys', title: 'API keys', permission: 'site.api_keys.read' },
  refusals: { path: '/admin/refusals', title: 'Refusals', permission: 'site.api_keys.read' },
  messages: { path: '/admin/messages', title: 'Messages', permission: 'site.messages.read' },
  replays: { path: '/admin/replays', title: 'Replays', permission: 'site.messages.replay' },
  attention: { path: '/admin/attention', title: 'Attention', permission: 'site.messages.read' },
  names: { path: '/admin/names', title: 'Names', permission: 'site.messages.read' },
  alerts: { path: '/admin/alerts', title: 'Alerts', permission: 'site.endpoints.read' },
  workbench: { path: '/admin/workbench', title: 'Workbench', permission: 'site.api_keys.read' },
  audit: { path: '/admin/audit', title: 'Audit', permission: 'site.audit.read' },
  settings: { path: '/admin/settings', title: 'Settings', permission: 'site.settings.read' },
} as const satisfies Readonly<Record<string, Place>>;

/** Where a page belongs. */
export type PlacePath = (typeof PLACES)[keyof typeof PLACES]['path'];
