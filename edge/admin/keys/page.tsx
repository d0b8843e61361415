/** The page of one API key: facts, activity, public keys, examples, rejected requests and history. */
import type { CheckedKey } from '../../../shared/oauth/jwks.ts';
import type { CheckList } from '../../check-list.ts';
import type { Config } from '../../config.ts';
import type { FoundRefusal } from '../../store/admin-refusal.ts';
import type { KeyActivityRow, KeyKidRow } from '../../store/key-activity.ts';
import type { ChangeRow } from '../../store/change.ts';
import { viewChange } from '../record/change.ts';
import { RecordFacts } from '../record/fields.tsx';
import { History } from '../record/history.tsx';
import { Activity } from './activity.tsx';
import type { Example } from './examples.ts';
import { kidUses, type KidUse } from './rotation.ts';
import type { JwksFindings } from './rules.ts';
import { KEY_MEMBERS, KEY_SECTIONS } from '../../members/api-key.ts';
import type { KeyRow } from './statements.ts';
import { viewKey } from './view.ts';
import { Refusals } from '../requests/list.tsx';
import { Badge, Code, Copyable, Empty, Fact, KeyStatus, Section, Table, When } from '../web/ui.tsx';

interface Switched {
  readonly by: string;
  readonly at: string;
}

/** The last change of the status in the shown history; undefined without one. */
function lastSwitch(changes: readonly ChangeRow[]): Switched | undefined {
  const views = changes.map((change) => viewChange(KEY_MEMBERS, change));
  return views.find(({ before, changed }) => before !== null && changed.includes('status'));
}

export interface KeyPageProps {
  readonly keyRow: KeyRow;
  readonly path: string;
  readonly config: Config;
  readonly refusalsPath: string;
  /** Undefined if the key has none, or without the permission. */
  readonly subscriptionsPath: string | undefined;
  /** The rules for its messages; undefined if it sends none, or without the permission. */
  readonly rulesPath: string | undefined;
  /** Null for a JWKS URI that was not fetched. */
  readonly findings: JwksFindings | null;
  readonly problems: readonly string[];
  readonly examples: readonly Example[];
  readonly refusals: readonly FoundRefusal[];
  readonly changes: readonly ChangeRow[];
  readonly activity: readonly KeyActivityRow[];
  readonly kids: readonly KeyKidRow[];
  readonly checkList: CheckList;
  readonly nowMs: number;
  readonly may: { readonly create: boolean; readonly update: boolean; readonly disable: boolean };
}

/** The sections shown as facts; the name is the title, public keys have a section of the page. */
const FACTS = KEY_SECTIONS.filter(({ name }) => name !== 'name' && name !== 'keys');
const HL7_SECTIONS: readonly string[] = ['mllp', 'hl7', 'judged', 'silence'];
const ofHl7 = (isHl7: boolean) => FACTS.filter(({ name }) => HL7_SECTIONS.includes(name) === isHl7);

export const sendsHl7 = ({ protocols }: KeyRow): boolean => protocols.some((protocol) => protocol !== 'fhir');

/** The HL7 settings of a key that sends no HL7 are below its activity. */
const UnusedFacts = ({ keyRow: key }: { keyRow: KeyRow }) =>
  sendsHl7(key) ? null : (
    <section>
      <details>
        <summary>Settings for HL7, which this key does not send</summary>
        <dl class="facts">
          <RecordFacts members={KEY_MEMBERS} sections={ofHl7(true)} record={viewKey(key)} />
        </dl>
      </details>
    </section>
  );

const Facts = ({ keyRow: key, switched }: { keyRow: KeyRow; switched: Switched | undefined }) => (
  <dl class="facts">
    <Fact name="Client ID">
      <Copyable text={key.client_id} label="the Client ID" />
    </Fact>
    <Fact name="Status">
      <KeyStatus status={key.status} />
      {switched === undefined ? null : (
        <span class="quiet">
          {' '}
          by {switched.by}, <When at={switched.at} />
        </span>
      )}
    </Fact>
    <RecordFacts members={KEY_MEMBERS} sections={sendsHl7(key) ? FACTS : ofHl7(false)} record={viewKey(key)} />
    <Fact name="Changed">
      <When at={key.updated_at} /> (version {key.version})
    </Fact>
  </dl>
);

/** The last use of a public key, and for a replaced one the time after which it can be removed. */
const LastSigned = ({ use, nowMs }: { use: KidUse | undefined; nowMs: number }) => {
  if (use?.last === undefined) return <span class="quiet">no use known</span>;
  const { last, removableAfter } = use;
  if (removableAfter === undefined) return <When at={last.last_at} relative />;
  return (
    <>
      <When at={last.last_at} relative />
      <p class="quiet">
        {Date.parse(removableAfter) <= nowMs ? (
          'Replaced, and not used for eight days: it can be removed.'
        ) : (
          <>
            Replaced. It can be removed after <When at={removableAfter} />, unless it is used before.
          </>
        )}
      </p>
    </>
  );
};

const FoundKeys = ({ keys, kids, nowMs }: Pick<KeyPageProps, 'kids' | 'nowMs'> & { keys: readonly CheckedKey[] }) => (
  <Table
    label="Public keys found"
    rows={keys}
    columns={{
      kid: ({ kid }) => (kid === undefined ? <span class="quiet">none</span> : <code>{kid}</code>),
      Type: ({ type }) => type,
      Size: ({ size }) => (size === 0 ? '' : `${size} bit`),
      Use: ({ use }) => use ?? '',
      Usable: ({ usable, reason }) =>
        usable ? <Badge tone="good">yes</Badge> : <Badge tone="bad">{reason ?? 'no'}</Badge>,
      'Last used': (_, at) => <LastSigned use={kidUses(keys, kids)[at]} nowMs={nowMs} />,
    }}
  />
);

const Keys = ({ keyRow: key, findings, problems, path, kids, nowMs }: KeyPageProps) => (
  <Section id="public-keys" title="Public keys">
    {key.jwks_uri === null ? null : (
      <p>
        <code>{key.jwks_uri}</code> <a href={`${path}?check=1#public-keys`}>Fetch it now</a>
      </p>
    )}
    {problems.map((problem) => (
      <p>
        <Badge tone="bad">{problem}</Badge>
      </p>
    ))}
    {findings?.unreachable === undefined ? null : (
      <p>
        <Badge tone="warn">The JWKS URI could not be loaded: {findings.unreachable}</Badge>
      </p>
    )}
    {findings === null || findings.keys.length === 0 ? null : (
      <FoundKeys keys={findings.keys} kids={kids} nowMs={nowMs} />
    )}
  </Section>
);

const Examples = ({ examples }: { examples: readonly Example[] }) => (
  <Section id="examples" title="Use this key">
    <p class="quiet">
      Complete programs for this API key. They read its private key from <code>private.pem</code> (PKCS #8).
    </p>
    {examples.map(({ title, text }) => (
      <details>
        <summary>{title}</summary>
        <Code text={text} label={title} copy />
      </details>
    ))}
  </Section>
);

/** Open until each step is done. */
const GoLive = ({ checkList: { steps, types } }: { checkList: CheckList }) => {
  const done = steps.filter((step) => step.done).length;
  return (
    <Section id="go-live" title="Go-live check list">
      <details open={done < steps.length}>
        <summary>
          {done} of {steps.length} seen
        </summary>
        <Table
          label="Go-live check list"
          rows={steps}
          columns={{
            Step: ({ title }) => title,
            Seen: ({ done, at }) => (
              <>
                {done ? <Badge tone="good">yes</Badge> : <Badge tone="plain">not yet</Badge>}{' '}
                {at === null ? null : <When at={at} />}
              </>
            ),
            Next: ({ todo }) => todo ?? '',
          }}
        />
        {types.length === 0 ? null : (
          <Table
            label="Types of its newest 1,000 messages"
            rows={types}
            columns={{
              Type: ({ type }) => type || 'unreadable',
              Accepted: ({ accepted }) => <td class="number">{accepted}</td>,
              Rejected: ({ rejected }) => <td class="number">{rejected}</td>,
              Last: ({ lastAt }) => <When at={lastAt} />,
            }}
          />
        )}
      </details>
    </Section>
  );
};

const Actions = ({ keyRow: key, path, rulesPath, may }: KeyPageProps) => {
  const next = key.status === 'active' ? 'disabled' : 'active';
  const maySwitch = next === 'disabled' ? may.disable : may.update;
  return (
    <div class="actions">
      {may.update ? (
        <a class="button" href={`${path}/edit`}>
          Edit
        </a>
      ) : null}
      <a class="button secondary" href={`${path}/handover`}>
        For the integrator
      </a>
      <a class="button secondary" href={`${path}/links`}>
        Links
      </a>
      {rulesPath === undefined ? null : (
        <a class="button secondary" href={rulesPath}>
          Rules
        </a>
      )}
      {may.create ? (
        <a class="button secondary" href={`${path.slice(0, path.lastIndexOf('/'))}/new?from=${key.client_id}`}>
          Duplicate
        </a>
      ) : null}
      {maySwitch ? (
        <a class={next === 'disabled' ? 'button danger' : 'button secondary'} href={`${path}/status`}>
          {next === 'disabled' ? 'Disable …' : 'Enable …'}
        </a>
      ) : null}
    </div>
  );
};

export const KeyPage = (props: KeyPageProps) => (
  <>
    <Actions {...props} />
    <Facts keyRow={props.keyRow} switched={lastSwitch(props.changes)} />
    <Activity keyRow={props.keyRow} activity={props.activity} nowMs={props.nowMs} requestsPath={props.refusalsPath} />
    <GoLive checkList={props.checkList} />
    <Keys {...props} />
    <Examples examples={props.examples} />
    <Section id="refused" title="Rejected requests">
      {props.refusals.length === 0 ? (
        <Empty>No rejected or failed requests are kept.</Empty>
      ) : (
        <Refusals items={props.refusals} config={props.config} isOfKey />
      )}
      <p>
        <a href={props.refusalsPath}>All rejected and failed requests of this API key</a>
      </p>
    </Section>
    {props.subscriptionsPath === undefined ? null : (
      <p>
        <a href={props.subscriptionsPath}>Subscriptions of this API key</a>
      </p>
    )}
    <UnusedFacts keyRow={props.keyRow} />
    <History members={KEY_MEMBERS} changes={props.changes} />
  </>
);
