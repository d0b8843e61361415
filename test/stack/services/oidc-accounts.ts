/** The accounts of the local OpenID provider: an administrator with every permission, and a reader. */
import { PERMISSIONS as EDGE_PERMISSIONS } from '../../../edge/permissions.ts';

export const PERMISSIONS: readonly string[] = Object.keys(EDGE_PERMISSIONS);

export interface Account {
  readonly username: string;
  readonly password: string;
  readonly name: string;
  readonly site: string;
  readonly permissions: readonly string[];
}

export function localAccounts(site: string, password: string): { admin: Account; reader: Account } {
  const readOnly = PERMISSIONS.filter((permission) => permission.endsWith('.read'));
  return {
    admin: { username: 'admin', password, name: 'Alex Admin', site, permissions: PERMISSIONS },
    reader: { username: 'reader', password, name: 'Robin Reader', site, permissions: readOnly },
  };
}
