/** Compares a site with its file. A difference was made in the console, or is not applied yet. */
import { Fault } from '../../../../shared/fault.ts';
import { bad, doubtful, type Finding, good } from '../../../admin/health/finding.ts';
import { planAnswer } from '../../../admin/site-file/operations.ts';
import type { PlannedItem } from '../../../admin/site-file/planned.ts';
import { KINDS, shown, unmentionedNames } from '../../../admin/site-file/print.ts';
import { connectAdminApi } from '../admin-api.ts';
import { withFile } from '../admin-site-file.ts';

const SUBJECT = 'site file';
const NEXT = 'apply the file, or export the site and edit the file (edge/docs/operate.md, Sites as code)';
const MAX_FINDINGS = 50;

function differenceOf({ kind, action, name, members }: Omit<PlannedItem, 'permissions'>): string {
  const record = kind === 'settings' ? 'settings' : `${KINDS[kind]} ${JSON.stringify(name)}`;
  if (action === 'create') return `${record} is in the file and not in the site`;
  const differences = members.map(
    ({ member, before, after }) => `${member} is ${shown(member, before)}, the file has ${shown(member, after)}`,
  );
  return `${record}: ${differences.join('; ')}`;
}

/** The site's id in the file, so that a token of several sites names it. */
const siteOf = (file: unknown): string =>
  typeof file === 'object' && file !== null && 'site' in file && typeof file.site === 'string' ? file.site : '';

/** @param token an access token of the OpenID provider. @throws UsageError without it, or without the file */
export async function checkSiteFile(console: URL, token: string | undefined, path: string): Promise<Finding[]> {
  try {
    const answer = await withFile(path, (file) =>
      connectAdminApi(console.href, token, siteOf(file))('/plan', { file }),
    );
    const { changes, warnings, notInFile } = planAnswer.parse(answer);
    const differences = changes.slice(0, MAX_FINDINGS).map((item) => bad(SUBJECT, differenceOf(item), NEXT));
    const more = changes.length - differences.length;
    const left = unmentionedNames(notInFile);
    return [
      ...(differences.length === 0 ? [good(SUBJECT, 'the site is as the file says')] : differences),
      ...(more > 0 ? [bad(SUBJECT, `${more} more differences: npm run -s admin -- plan lists all`, NEXT)] : []),
      ...warnings.map((warning) => doubtful(SUBJECT, warning, NEXT)),
      ...(left.length === 0 ? [] : [doubtful(SUBJECT, `not in the file: ${left.join(', ')}`, NEXT)]),
    ];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const places = error.issues.slice(0, MAX_FINDINGS).map(({ at, message }) => `${at ?? ''}: ${message}`);
    const next =
      'the file must be valid, and the token needs site.settings.read, site.api_keys.read and site.rules.read';
    return [bad(SUBJECT, [error.message, ...places].join('; '), next)];
  }
}
