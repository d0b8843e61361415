/** Makes the file of a site as it is. */
import { KEY_MEMBERS } from '../../members/api-key.ts';
import { toMembers } from '../../members/member.ts';
import { SITE_MEMBERS } from '../settings/record.ts';
import { exportedMembers, FORMAT } from './file.ts';
import type { SiteState } from './state.ts';

/** The file that makes a site as it is. API keys have their Client ID only where several have one name. */
export function exportFile({ settings, keys, addresses }: SiteState): Record<string, unknown> {
  const counts = new Map<string, number>();
  for (const { name } of keys) counts.set(name, (counts.get(name) ?? 0) + 1);
  return {
    format: FORMAT,
    site: settings.site_id,
    settings: exportedMembers(toMembers(SITE_MEMBERS, settings)),
    addresses: addresses.map(({ range, application, facility, tls_subject: subject }) => ({
      range,
      ...(application === '' ? {} : { senderApplication: application }),
      ...(facility === '' ? {} : { senderFacility: facility }),
      ...(subject === '' ? {} : { tlsSubject: subject }),
    })),
    apiKeys: keys.map((key) => ({
      ...((counts.get(key.name) ?? 0) > 1 ? { clientId: key.client_id } : {}),
      ...exportedMembers(toMembers(KEY_MEMBERS, key)),
    })),
  };
}
