/** The page of the rules of an API key: live version and draft in words, the draft as JSON, and what was live when. */
import type { Child } from 'hono/jsx';

import type { SenderRule } from '../../members/sender-rules.ts';
import type { FailedForm } from '../record/form.tsx';
import { Badge, Code, Empty, Fact, Faults, Notice, ReleaseComment, Section, Select, Table, When } from '../web/ui.tsx';
import { RULE_VERBS } from './rule-form.ts';
import type { KeyRules } from './rules.ts';
import { sentenceOf } from './sentence.ts';

/** As the field and the version show them. */
const printRules = (rules: readonly SenderRule[]): string => JSON.stringify(rules, null, 2);

const keysOf = (rules: readonly SenderRule[]): string[] => rules.map((rule) => JSON.stringify(rule));

/** @param other marks the rules that this list does not have */
const Rules = ({
  rules,
  label,
  other,
  mark,
  controls,
}: {
  rules: readonly SenderRule[];
  label: string;
  other?: readonly SenderRule[];
  mark?: string;
  controls?: (number: number) => Child;
}) => {
  const others = new Set(keysOf(other ?? rules));
  return (
    <ol aria-label={label}>
      {rules.map((rule, at) => (
        <li>
          {rule.name === undefined ? null : <strong>{rule.name}. </strong>}
          {sentenceOf(rule)}
          {others.has(JSON.stringify(rule)) ? null : (
            <>
              {' '}
              <Badge tone="warn">{mark}</Badge>
            </>
          )}
          {controls?.(at + 1)}
        </li>
      ))}
    </ol>
  );
};

/** True if the rules that both lists have follow each other differently. */
function isReordered(one: readonly SenderRule[], other: readonly SenderRule[]): boolean {
  const [ones, others] = [keysOf(one), keysOf(other)];
  const common = (keys: readonly string[], of: readonly string[]) => keys.filter((key) => of.includes(key)).join('\n');
  return common(ones, others) !== common(others, ones);
}

export interface Failed extends FailedForm {
  readonly of: keyof typeof AGAIN;
}

/** `Rule 3 (Unknown sex), path`: the place of a fault for a reader who counts rules from 1. */
function placeOf(at: string | undefined, given: unknown): string {
  const [, index, member = ''] = /^rules\[(\d+)\]\.?(.*)$/.exec(at ?? '') ?? [];
  if (index === undefined) return at ?? '';
  const rules: readonly unknown[] = Array.isArray(given) ? given : [];
  const { name } = Object(rules[Number(index)]);
  const named = typeof name === 'string' ? ` (${name})` : '';
  return `Rule ${Number(index) + 1}${named}${member === '' ? '' : `, ${member}`}`;
}

const AGAIN = {
  draft:
    'The lists show the stored rules, and the field still has your text. Compare them. If you save your text now, it ' +
    'replaces the stored draft.',
  release: 'The lists show the stored rules. Check them before you make them live.',
  move: 'The lists show the stored rules. Move or remove the rule there.',
} as const;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const NotDone = ({ failed: { fault, of, given } }: { failed: Failed }) => (
  <Notice tone="bad">
    <p>
      {of === 'release' ? 'Not made live' : 'Not saved'}: {fault.message}.
    </p>
    {fault.kind === 'precondition-failed' ? <p>{AGAIN[of]}</p> : null}
    <Faults of={fault.issues.map(({ at, message }) => `${placeOf(at, parsed(given['rules'] ?? ''))}: ${message}`)} />
  </Notice>
);

export interface RulesPageProps {
  readonly rules: KeyRules;
  readonly path: string;
  readonly mayChange: boolean;
  /** An earlier version that was asked for. */
  readonly version: { readonly version: number; readonly rules: readonly SenderRule[] } | undefined;
  readonly failed: Failed | undefined;
}

const ReleaseForm = ({ rules, path, failed }: Pick<RulesPageProps, 'rules' | 'path' | 'failed'>) => {
  const { liveVersion, draftVersion, isDraftChanged, releases, edits } = rules;
  const earlier = [...new Set(releases.flatMap(({ version }) => version ?? []))].filter((each) => each !== liveVersion);
  const options = [
    ...(isDraftChanged ? [{ value: `${draftVersion}`, label: 'the saved draft' }] : []),
    ...earlier.map((version) => ({ value: `${version}`, label: `version ${version}` })),
    ...(liveVersion === null ? [] : [{ value: '', label: 'none: switch the rules off' }]),
  ];
  const [first] = options;
  if (first === undefined) return null;
  return (
    <form class="filter" method="post" action={`${path}/release`}>
      <input type="hidden" name="edits" value={`${edits}`} />
      <Select name="version" label="Make live" options={options} value={first.value} />
      <ReleaseComment value={failed?.given['comment']} />
      <button>Make live</button>
    </form>
  );
};

/** Each rule of the draft with buttons, and the choice of the verb of a new one. */
const EditedRules = ({ rules, path }: Pick<RulesPageProps, 'rules' | 'path'>) => {
  const { draft, live, edits } = rules;
  const button = (number: number, move: string, label: string) => (
    <button class="small secondary" name="move" value={`${number} ${move}`} aria-label={`${label} rule ${number}`}>
      {label}
    </button>
  );
  const controls = (number: number) => (
    <div class="actions">
      <a href={`${path}/rule?number=${number}`} aria-label={`Edit rule ${number}`}>
        Edit
      </a>
      {number === 1 ? null : button(number, 'up', 'Move up')}
      {number === draft.length ? null : button(number, 'down', 'Move down')}
      {button(number, 'remove', 'Remove')}
    </div>
  );
  return (
    <>
      {draft.length === 0 ? (
        <Empty>The draft has no rules.</Empty>
      ) : (
        <form method="post" action={`${path}/move`}>
          <input type="hidden" name="edits" value={`${edits}`} />
          <Rules rules={draft} label="Rules of the draft" other={live ?? []} mark="not live" controls={controls} />
        </form>
      )}
      <form class="filter" method="get" action={`${path}/rule`}>
        <Select
          name="verb"
          label="New rule"
          options={Object.entries(RULE_VERBS).map(([value, { label }]) => ({ value, label }))}
          value="map"
        />
        <button class="secondary">Add a rule</button>
      </form>
    </>
  );
};

const DraftForm = ({ rules, path, failed }: Pick<RulesPageProps, 'rules' | 'path' | 'failed'>) => (
  <form method="post" action={path}>
    <input type="hidden" name="edits" value={`${rules.edits}`} />
    <div class="field">
      <label for="rules">Draft as JSON</label>
      <textarea id="rules" name="rules" rows={14} class="mono" spellcheck={false} aria-describedby="rules-hint">
        {failed?.given['rules'] ?? printRules(rules.draft)}
      </textarea>
      <p class="hint" id="rules-hint">
        A list of rules, which are applied in this order. The documentation for senders explains each verb.
      </p>
    </div>
    <button class="secondary">Save draft</button>
  </form>
);

const Releases = ({ rules: { releases }, path }: Pick<RulesPageProps, 'rules' | 'path'>) => (
  <Table
    label="Live versions"
    rows={releases}
    empty="No version was live yet."
    columns={{
      From: ({ at }) => <When at={at} />,
      Version: ({ version }) =>
        version === null ? 'off' : <a href={`${path}?version=${version}#version`}>version {version}</a>,
      By: ({ by }) => by,
      Why: ({ comment }) => comment,
    }}
  />
);

export const RulesPage = (props: RulesPageProps) => {
  const { rules, mayChange, version, failed } = props;
  const { liveVersion, draft, isDraftChanged, savedAt, savedBy } = rules;
  const live = rules.live ?? [];
  return (
    <>
      <p class="lead">
        Rules change the messages of this API key before they are read. The stored message and its identity stay those
        of the sender.
      </p>
      <dl class="facts">
        <Fact name="Messages are read by">
          {liveVersion === null ? (
            <Badge tone="plain">no rules</Badge>
          ) : (
            <Badge tone="good">version {liveVersion}</Badge>
          )}
        </Fact>
        <Fact name="Draft">
          {isDraftChanged ? <Badge tone="warn">not live</Badge> : 'as live'}
          {savedAt === null ? null : (
            <span class="quiet">
              {' '}
              saved by {savedBy}, <When at={savedAt} />
            </span>
          )}
        </Fact>
      </dl>
      {failed === undefined ? null : <NotDone failed={failed} />}
      {mayChange ? <ReleaseForm {...props} /> : null}
      <Section id="live" title={liveVersion === null ? 'Live rules' : `Live rules: version ${liveVersion}`}>
        {live.length === 0 ? (
          <Empty>No rules are live.</Empty>
        ) : (
          <Rules rules={live} label="Live rules" other={draft} mark="not in the draft" />
        )}
      </Section>
      <Section id="draft" title="Draft">
        {isReordered(draft, live) ? <p>The draft applies its live rules in another order.</p> : null}
        {mayChange ? (
          <EditedRules {...props} />
        ) : !isDraftChanged || draft.length === 0 ? (
          <Empty>{draft.length === 0 ? 'The draft has no rules.' : 'The draft has the live rules.'}</Empty>
        ) : (
          <Rules rules={draft} label="Rules of the draft" other={live} mark="not live" />
        )}
        {isDraftChanged ? (
          <p>
            <a href={`${props.path}/trial`}>Try the draft</a> on the newest messages of the key before you make it live.
          </p>
        ) : null}
        {mayChange ? <DraftForm {...props} /> : <Code text={printRules(draft)} label="Draft as JSON" copy />}
      </Section>
      <Section id="releases" title="Live versions">
        <Releases {...props} />
      </Section>
      {version === undefined ? null : (
        <Section id="version" title={`Version ${version.version}`}>
          <Rules rules={version.rules} label={`Rules of version ${version.version}`} />
          <Code text={printRules(version.rules)} label={`Version ${version.version} as JSON`} copy />
        </Section>
      )}
    </>
  );
};
