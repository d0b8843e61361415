/** `/admin/keys/:clientId/rules/rule`: the form of one rule of the draft, and the moves of a rule in its list. */
import type { Context } from 'hono';

import { Fault } from '../../../shared/fault.ts';
import type { SenderRule } from '../../members/sender-rules.ts';
import type { GatewayEnv, Surface } from '../../http/surface.ts';
import { parse } from '../api/parse.ts';
import { requireKey } from '../keys/keys.ts';
import { statusOfForm, titleOfForm } from '../record/form.tsx';
import type { Visitor } from '../staff/access.ts';
import { requirePermission } from '../staff/actor.ts';
import type { Console } from '../web/console.ts';
import { readForm } from '../web/form.ts';
import { linkTo, respond } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Notice } from '../web/ui.tsx';
import { isVerb, readTexts, ruleOf, type RuleTexts, textsOf } from './rule-form.ts';
import { RuleForm, type RuleFormState } from './rule-page.tsx';
import { changedMeanwhile, draftBody, requireRules, saveDraft } from './rules.ts';
import { sentenceOf } from './sentence.ts';

const { path: KEYS } = PLACES.keys;

const noSuchRule = () => new Fault('not-found', 'The draft has no such rule. Open the rules again.');

/** The index of a rule of the draft. @throws Fault `not-found` */
function indexOf(number: string, draft: readonly SenderRule[]): number {
  const index = Number(number) - 1;
  if (draft[index] === undefined) throw noSuchRule();
  return index;
}

/** @throws Fault `invalid`, `precondition-failed` if the draft is no longer as `edits` */
async function save(
  { database, actor }: Visitor,
  clientId: string,
  edits: string,
  change: (draft: readonly SenderRule[]) => readonly unknown[],
): Promise<void> {
  const current = await requireRules(database, actor.site, clientId);
  // A position counts in the draft as the person saw it.
  if (current.edits !== Number(edits)) throw changedMeanwhile();
  await saveDraft(database, actor, clientId, parse(draftBody, { edits: current.edits, rules: change(current.draft) }));
}

type Move = (draft: readonly SenderRule[], index: number) => readonly SenderRule[];

const swapped: Move = (draft, index) => {
  const [one, other] = [draft[index], draft[index + 1]];
  return one === undefined || other === undefined ? draft : draft.toSpliced(index, 2, other, one);
};

const MOVES: Readonly<Record<string, Move>> = {
  up: (draft, index) => (index === 0 ? draft : swapped(draft, index - 1)),
  down: swapped,
  remove: (draft, index) => draft.toSpliced(index, 1),
};

/** Carries out the button of a list of rules, such as `3 up`. @throws Fault `malformed`, and as `save` */
export async function moveRule(
  session: Visitor,
  clientId: string,
  { move = '', edits = '' }: Readonly<Record<string, string>>,
): Promise<void> {
  const [number = '', name = ''] = move.split(' ');
  const moved = Object.hasOwn(MOVES, name) ? MOVES[name] : undefined;
  if (moved === undefined) throw new Fault('malformed', 'move must be the number of a rule, and up, down or remove');
  await save(session, clientId, edits, (draft) => moved(draft, indexOf(number, draft)));
}

export function addRulePages(app: Surface, { deps, access }: Console): void {
  const { config } = deps;
  const PLACE = `${KEYS}/:clientId/rules/rule` as const;
  const pathOf = (clientId: string) => `${linkTo(config, KEYS)}/${clientId}/rules`;

  const enter = async (c: Context<GatewayEnv>) => {
    const session = await access.page(c, 'site.rules.write');
    requirePermission(session.actor, 'site.rules.read');
    return session;
  };

  const show = async (
    session: Visitor,
    clientId: string,
    state: RuleFormState | undefined,
    rule?: SenderRule,
  ): Promise<Response> => {
    const { name } = await requireKey(session.database, session.actor.site, clientId);
    const title = state?.isNew === true ? 'New rule' : `Rule ${state?.number ?? ''}`.trim();
    return respond(
      {
        title: titleOfForm(title, state?.fault),
        config,
        session,
        place: KEYS,
        trail: [
          PLACES.keys,
          { title: name, path: `${KEYS}/${clientId}` },
          { title: 'Rules', path: `${KEYS}/${clientId}/rules` },
        ],
        status: statusOfForm(state?.fault),
      },
      rule === undefined ? null : <p class="lead">{sentenceOf(rule)}</p>,
      state === undefined ? (
        <Notice tone="warn">
          The form cannot show this rule, because a sent value has an equals sign or white space around it.{' '}
          <a href={`${pathOf(clientId)}#rules`}>Edit it as JSON</a>
        </Notice>
      ) : (
        <RuleForm state={state} path={pathOf(clientId)} />
      ),
    );
  };

  app.get(PLACE, async (c) => {
    const session = await enter(c);
    const clientId = c.req.param('clientId');
    const { draft, edits } = await requireRules(session.database, session.actor.site, clientId);
    const { verb, number } = c.req.query();
    const shown = (texts: RuleTexts, at: number, isNew: boolean): RuleFormState => ({
      ...texts,
      number: at,
      isNew,
      edits: `${edits}`,
      fault: undefined,
      isWider: false,
    });
    if (number === undefined && isVerb(verb))
      return show(session, clientId, shown({ verb, texts: {}, conditions: [] }, draft.length + 1, true));
    const index = indexOf(number ?? '', draft);
    const rule = draft[index];
    const texts = rule && textsOf(rule);
    return show(session, clientId, texts && shown(texts, index + 1, false), rule);
  });

  app.post(PLACE, async (c) => {
    const session = await enter(c);
    const clientId = c.req.param('clientId');
    const form = await readForm(c);
    const { verb, number = '', edits = '', more } = Object.fromEntries(form) as Partial<Record<string, string>>;
    if (!isVerb(verb)) throw new Fault('malformed', 'verb must be a verb of rules');
    const texts = readTexts(verb, form);
    const isNew = number === '';
    const state = { ...texts, isNew, edits, number: Number(number), fault: undefined, isWider: false };
    if (more !== undefined) return show(session, clientId, { ...state, isWider: true });
    let at = state.number;
    try {
      await save(session, clientId, edits, (draft) => {
        const index = isNew ? draft.length : indexOf(number, draft);
        at = index + 1;
        return draft.toSpliced(index, 1, ruleOf(texts) as SenderRule);
      });
    } catch (error) {
      if (!(error instanceof Fault) || !['invalid', 'precondition-failed'].includes(error.kind)) throw error;
      return show(session, clientId, { ...state, number: at, fault: error });
    }
    return c.redirect(`${pathOf(clientId)}?done=draft#draft`, 303);
  });
}
