/** What was done, in words; and the two questions that people come with, each of several actions. */
import { AUDIT_ACTIONS, type AuditAction } from '../../store/audit.ts';

export const ACTION_WORDS: Readonly<Record<AuditAction, string>> = {
  read: 'read',
  search: 'found by a search',
  history: 'read with its history',
  create: 'created',
  update: 'updated',
  patch: 'patched',
  batch: 'several at once (batch)',
  transaction: 'several at once (transaction)',
  export: 'exported',
  message: 'HL7 message taken',
  'message-viewed': 'HL7 message looked at',
  'message-replayed': 'HL7 message replayed',
  'attention-viewed': 'listed under Attention',
  workbench: 'looked at in the workbench',
  'signed-in': 'signed in',
  'signed-out': 'signed out',
  'key-created': 'API key created',
  'key-changed': 'API key changed',
  'settings-changed': 'settings changed',
  'alert-acknowledged': 'alert acknowledged',
  'alert-muted': 'alert muted',
  'alert-unmuted': 'alert unmuted',
  'audit-viewed': 'audit looked at',
  'patient-erased': 'patient erased',
};

/** Bundles are found by what they did. */
export const ACTION_GROUPS = {
  seen: ['read', 'search', 'history', 'export', 'message-viewed', 'attention-viewed', 'workbench'],
  changed: ['create', 'update', 'patch', 'message', 'message-replayed', 'patient-erased'],
} as const satisfies Readonly<Record<string, readonly AuditAction[]>>;
export type ActionGroup = keyof typeof ACTION_GROUPS;

export const GROUP_WORDS: Readonly<Record<ActionGroup, string>> = {
  seen: 'seen, in any way',
  changed: 'changed, in any way',
};

const isGroup = (action: string): action is ActionGroup => Object.hasOwn(ACTION_GROUPS, action);

export const ACTION_GROUP_NAMES: readonly ActionGroup[] = Object.keys(ACTION_GROUPS).filter(isGroup);

/** The actions that are meant; none: any. */
export const actionsOf = (action: AuditAction | ActionGroup | ''): readonly AuditAction[] =>
  action === '' ? [] : isGroup(action) ? ACTION_GROUPS[action] : [action];

/** Every choice, what people ask most first. */
export const ACTION_CHOICES: readonly { readonly value: string; readonly label: string }[] = [
  { value: '', label: 'any' },
  ...ACTION_GROUP_NAMES.map((value) => ({ value, label: GROUP_WORDS[value] })),
  ...AUDIT_ACTIONS.map((value) => ({ value, label: ACTION_WORDS[value] })),
];
