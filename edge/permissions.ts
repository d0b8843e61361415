/** The permissions of staff, by their names in the provider's claim `permissions` (edge/docs/behaviour.md, Administration). */
export const PERMISSIONS = {
  'site.api_keys.read': 'see API keys, their history and rejected requests',
  'site.api_keys.create': 'create API keys',
  'site.api_keys.update': 'change and enable API keys',
  'site.api_keys.disable': 'disable API keys',
  'site.messages.read': 'see HL7 messages, which hold patient data',
  'site.messages.replay': 'replay HL7 messages',
  'site.patients.unmerge': 'see merges of patients, and undo them',
  'site.settings.read': 'see the settings of the site',
  'site.settings.update': 'change the settings of the site',
  'site.rules.read': 'see code tables, codes of messages that they miss, and rules of API keys',
  'site.rules.write': 'change code tables and rules of API keys, and make them live',
  'site.audit.read': 'see the audit: who saw or changed data',
  'site.endpoints.read': 'see endpoints, feeds, alerts, health and traffic',
  'site.alerts.update': 'acknowledge and silence alerts',
  'site.sessions.end': 'see who is signed in to the console, and end sessions',
  'gateway.operate': 'see the keys that sign access tokens',
} as const;
export type Permission = keyof typeof PERMISSIONS;

const isPermission = (value: string): value is Permission => Object.hasOwn(PERMISSIONS, value);

export const ALL_PERMISSIONS: readonly Permission[] = Object.keys(PERMISSIONS).filter(isPermission);

/** The permissions that the gateway knows; a provider may send others. */
export const knownPermissions = (names: readonly string[]): ReadonlySet<Permission> =>
  new Set(names.filter(isPermission));

/** The sites and permissions of the members of one group at the provider. */
export interface GroupGrant {
  readonly sites: readonly string[];
  readonly permissions: readonly Permission[];
}
