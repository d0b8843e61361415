/** The page of a site's file: download it, plan a file, and apply the plan. */
import type { PropsWithChildren } from 'hono/jsx';

import type { Fault } from '../../../shared/fault.ts';
import { PERMISSIONS } from '../../permissions.ts';
import type { Actor } from '../staff/actor.ts';
import { counted } from '../web/counted.ts';
import { Switch } from '../web/fields.tsx';
import { Code, Copyable, Input, Notice, Section, Table } from '../web/ui.tsx';
import type { CreatedSubscription } from './operations.ts';
import type { Plan } from './plan.ts';
import type { PlannedItem } from './planned.ts';
import { KINDS } from './print.ts';

/** The texts of the form. */
export interface FileForm {
  /** JSON; site-file.js shows and takes YAML. */
  readonly file: string;
  readonly prune: boolean;
  readonly copy: boolean;
}

const NONE: ReadonlyMap<string, readonly string[]> = new Map();

interface SiteFilePageProps extends FileForm {
  readonly path: string;
  readonly exportPath: string;
  readonly fault?: Fault | undefined;
}

export const SiteFilePage = (props: PropsWithChildren<SiteFilePageProps>) => {
  const { path, exportPath, file, prune, copy, fault, children } = props;
  return (
    <>
      <p class="lead">
        The file has the settings, source addresses, API keys and subscriptions of the site, with public keys only. It
        also has the live rules and the live code tables.
      </p>
      <div class="actions">
        <a class="button secondary" href={exportPath} download="site.json" data-export>
          Download the file
        </a>
      </div>
      {fault === undefined ? null : (
        <Notice tone="bad">
          <p>{fault.message}</p>
          {fault.issues.length === 0 ? null : (
            <ul>
              {fault.issues.map(({ at, line, message }) => (
                <li>
                  {at === undefined || at === '' ? null : <code>{at}</code>}
                  {line === undefined ? null : `, line ${line}`} {message}
                </li>
              ))}
            </ul>
          )}
        </Notice>
      )}
      {children}
      <form method="post" action={`${path}/plan`} data-site-file>
        <h2>Plan a file</h2>
        <div class="field" data-choose hidden>
          <label for="chosen">Choose a file</label>
          <input id="chosen" type="file" accept=".yaml,.yml,.json" />
        </div>
        <div class="field">
          <label for="file">Or paste its content</label>
          <textarea
            id="file"
            name="file"
            rows={14}
            class="mono"
            spellcheck={false}
            required
            aria-describedby="file-hint"
          >
            {file}
          </textarea>
          <p class="hint" id="file-hint">
            YAML or JSON. Without a script in the browser: JSON only.
          </p>
          <p class="errors" role="alert" data-said hidden></p>
        </div>
        <Switch
          name="prune"
          label="Records that the file does not have"
          yes="Disable them"
          hint="API keys are disabled and subscriptions paused. Nothing is deleted."
          value="yes"
          isOn={prune}
          errors={NONE}
        />
        <Switch
          name="copy"
          label="File of another site"
          yes="Copy it to this site"
          hint="Its ids are ignored, and names find the API keys."
          value="yes"
          isOn={copy}
          errors={NONE}
        />
        <div class="actions">
          <button>Show the plan</button>
        </div>
        <p class="quiet">A plan changes nothing.</p>
      </form>
    </>
  );
};

/** True for a stored record that will not work after the change. */
const isDisabled = ({ action, members }: PlannedItem): boolean =>
  action !== 'create' &&
  members.some(
    ({ member, after }) =>
      (member === 'status' && after !== 'active' && after !== 'on') || (member === 'liveRows' && after === null),
  );

/** The reasons why a person may not apply a plan. */
function missingOf(plan: Plan, { permissions }: Actor): string[] {
  const needed = new Set(
    plan.items.flatMap(({ permissions: of }) => of ?? []).filter((each) => !permissions.has(each)),
  );
  const addresses = plan.items.filter((item) => item.permissions === null);
  return [
    ...[...needed].map((each) => `You need the permission ${each} (${PERMISSIONS[each]}).`),
    ...(addresses.length === 0
      ? []
      : [`Only the operator adds addresses (npm run admin): ${addresses.map(({ name }) => name).join(', ')}.`]),
  ];
}

interface PlanViewProps extends FileForm {
  readonly plan: Plan;
  readonly actor: Actor;
  readonly path: string;
}

export const PlanView = ({ plan, actor, path, file, prune, copy }: PlanViewProps) => {
  const disabled = plan.items.filter(isDisabled);
  const missing = missingOf(plan, actor);
  return (
    <Section id="plan" title="Plan">
      {plan.items.length === 0 ? <Notice tone="good">No changes: the site is as the file says.</Notice> : null}
      {disabled.length === 0 ? null : (
        <Notice tone="warn">
          <p>{counted(disabled.length, 'record')} will stop working:</p>
          <ul>
            {disabled.map(({ kind, name }) => (
              <li>
                {KINDS[kind]} {name}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <Code text={plan.diff} label="The changes" copy />
      {missing.length === 0 ? null : (
        <Notice tone="bad">
          {missing.map((each) => (
            <p>{each}</p>
          ))}
        </Notice>
      )}
      {plan.items.length === 0 || missing.length > 0 ? null : (
        <form method="post" action={`${path}/apply`}>
          <input type="hidden" name="file" value={file} />
          <input type="hidden" name="fingerprint" value={plan.fingerprint} />
          {prune ? <input type="hidden" name="prune" value="yes" /> : null}
          {copy ? <input type="hidden" name="copy" value="yes" /> : null}
          {plan.items.some(({ kind }) => kind === 'rules' || kind === 'code-table') ? (
            <Input label="Comment of the new versions" name="comment" maxlength={500} autocomplete="off" />
          ) : null}
          <div class="actions">
            <button class={disabled.length === 0 ? '' : 'danger'}>Apply {counted(plan.items.length, 'change')}</button>
          </div>
          <p class="quiet">
            All changes are written together. If a record has changed since this plan, nothing is written. Fingerprint{' '}
            <code>{plan.fingerprint.slice(0, 12)}</code>
          </p>
        </form>
      )}
    </Section>
  );
};

interface AppliedProps {
  readonly plan: Plan;
  readonly subscriptions: readonly CreatedSubscription[];
}

export const Applied = ({ plan, subscriptions }: AppliedProps) => {
  const made = new Set(
    plan.items.flatMap(({ kind, action, name }) => (kind === 'api-key' && action === 'create' ? [name] : [])),
  );
  const keys = plan.clientIds.filter(({ name }) => made.has(name));
  return (
    <>
      <Notice tone="good">
        {plan.items.length === 0
          ? 'Nothing was changed: the site is as the file says.'
          : `${counted(plan.items.length, 'change')} applied.`}
      </Notice>
      {keys.length === 0 ? null : (
        <Table
          label="New API keys"
          rows={keys}
          columns={{
            'New API key': ({ name }) => name,
            'Client ID': ({ name, clientId }) => <Copyable text={clientId} label={`the Client ID of ${name}`} />,
          }}
        />
      )}
      {subscriptions.length === 0 ? null : (
        <>
          <Notice tone="warn">Give each client its secret now: the gateway does not show it again.</Notice>
          <Table
            label="New subscriptions"
            rows={subscriptions}
            columns={{
              'New subscription': ({ apiKey, type, filter }) => (
                <>
                  {apiKey}: {type}
                  {filter === '' ? '' : `?${filter}`}
                </>
              ),
              Secret: ({ apiKey, type, secret }) => (
                <Copyable text={secret} label={`the secret of ${apiKey}: ${type}`} />
              ),
            }}
          />
        </>
      )}
    </>
  );
};
