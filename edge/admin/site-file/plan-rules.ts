/** Compares the rules of a file with the live rules of its site. Drafts are not part of a file: it describes what holds. */
import * as z from 'zod';

import type { Issue } from '../../../shared/fault.ts';
import { senderRules } from '../../members/sender-rules.ts';
import { parseMembers } from '../api/parse.ts';
import { canonical, type Change, type Part, under } from './part.ts';
import type { RulesState } from './state.ts';

/** The rules of an API key of the file, as given. */
export interface RulesOfFile {
  readonly at: string;
  readonly name: string;
  readonly clientId: string;
  readonly isNew: boolean;
  readonly rules: unknown;
}

const ofKey = z.object({ rules: senderRules });

export function planRules(live: RulesState['rules'], given: readonly RulesOfFile[]): Part {
  const [changes, issues]: [Change[], Issue[]] = [[], []];
  for (const { at, name, clientId, isNew, rules } of given) {
    const stored = live.get(clientId);
    const before = stored?.rules ?? [];
    // Also rules that an earlier release accepted.
    if (canonical(before) === canonical(rules)) continue;
    const read = parseMembers(ofKey, { rules }, 'the API key');
    const after = ofKey.safeParse(read.data).data?.rules;
    if (read.issues.length > 0 || after === undefined) {
      issues.push(...under(at, read.issues));
      continue;
    }
    changes.push({
      item: {
        kind: 'rules',
        action: isNew ? 'create' : 'update',
        name,
        clientId: isNew ? null : clientId,
        permissions: ['site.rules.write'],
        members: [{ member: 'rules', before: isNew ? null : before, after }],
      },
      write: {
        kind: 'rules',
        clientId,
        key: isNew ? name : clientId,
        expected: stored?.version ?? null,
        rules: after.length === 0 ? null : after,
      },
    });
  }
  return { changes, issues, warnings: [] };
}
