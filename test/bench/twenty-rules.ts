/** Twenty rules: the commonest ones, and some whose conditions are compared with each message. */
import { senderRules, type SenderRule } from '../../edge/members/sender-rules.ts';
import { RULE_RECIPES } from '../inputs/rule-recipes.ts';

const ofRecipes = RULE_RECIPES.flatMap(({ rules }) => rules).filter(({ verb }) => verb !== 'reject');

/** None rejects a message. */
export const TWENTY_RULES: readonly SenderRule[] = senderRules.length(20).parse([
  ...ofRecipes,
  { verb: 'reject', text: 'not of the bench', when: { all: [{ path: 'PID-5', like: '*NOBODY*' }] } },
  { verb: 'default', path: 'PV1-2', value: 'O', when: { types: ['ADT^A04', 'ADT^A08'] } },
  // As much content as without the rule, whose cost is measured.
  { verb: 'set', path: 'PID-11.3', value: 'TOWN', when: { all: [{ path: 'PID-11.6', equals: 'DE' }] } },
  { verb: 'map', path: 'OBX-6', values: { 'G/DL': 'g/dL' } },
  { verb: 'trim', path: 'OBX-5', when: { all: [{ path: 'OBX[OBX-2=ST]-5', is: 'present' }] } },
  { verb: 'clear', path: 'PID-19', when: { types: ['ADT', 'ORU'] } },
  { verb: 'join', path: 'NTE-3', by: ' ', when: { types: ['ORU'] } },
]);
