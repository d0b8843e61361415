/** The choices of the filter by action: one action, or one of two groups of them. */
import { AUDIT_ACTION_NAMES, AUDIT_ACTIONS, type AuditAction } from '../../audit-actions.ts';

const GROUPS = { seen: 'seen, in any way', changed: 'changed, in any way' } as const;
export type ActionGroup = keyof typeof GROUPS;

const isGroup = (action: string): action is ActionGroup => Object.hasOwn(GROUPS, action);

export const ACTION_GROUP_NAMES: readonly ActionGroup[] = Object.keys(GROUPS).filter(isGroup);

/** @returns the actions to search for; none means all */
export function actionsOf(choice: AuditAction | ActionGroup | ''): readonly AuditAction[] {
  if (choice === '') return [];
  return isGroup(choice) ? AUDIT_ACTION_NAMES.filter((action) => AUDIT_ACTIONS[action].group === choice) : [choice];
}

export const ACTION_CHOICES: readonly { readonly value: string; readonly label: string }[] = [
  { value: '', label: 'any' },
  ...ACTION_GROUP_NAMES.map((value) => ({ value, label: GROUPS[value] })),
  ...AUDIT_ACTION_NAMES.map((value) => ({ value, label: AUDIT_ACTIONS[value].label })),
];
