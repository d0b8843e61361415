/** A trial of the draft of a key's rules: its progress, and what would differ. */
import type { Child, PropsWithChildren } from 'hono/jsx';

import { counted } from '../web/counted.ts';
import { Badge, Empty, Fact, Input, Refreshed, Table, When } from '../web/ui.tsx';
import { MAX_TRIED } from '../../store/rules-trial.ts';
import type { TrialView } from './trial.ts';

const TONES = { open: 'plain', done: 'good', failed: 'bad', stopped: 'warn' } as const;

interface TrialPageProps {
  readonly trial: TrialView | undefined;
  readonly path: string;
  readonly mayChange: boolean;
  /** Link to the messages; undefined without the permission. */
  readonly messagePath: string | undefined;
}

const Samples = ({ samples, messagePath }: { samples: readonly string[]; messagePath: string | undefined }) => (
  <>
    {samples.map((id, at) => (
      <>
        {at === 0 ? '' : ', '}
        {messagePath === undefined ? (
          <code>{id.slice(-6)}</code>
        ) : (
          <a href={`${messagePath}/${id}/replay?rules=draft`}>…{id.slice(-6)}</a>
        )}
      </>
    ))}
  </>
);

interface Group {
  readonly messages: number;
  readonly samples: readonly string[];
}

interface GroupsProps<Of> {
  readonly label: string;
  readonly groups: readonly Of[];
  readonly columns: Readonly<Record<string, (group: Of) => Child>>;
  readonly empty: string;
  readonly messagePath: string | undefined;
}

const Groups = <Of extends Group>({ label, groups, columns, empty, messagePath }: GroupsProps<Of>) => (
  <Table
    label={label}
    rows={groups}
    empty={empty}
    columns={{
      ...columns,
      Messages: (group) => <td class="number">{group.messages.toLocaleString('en')}</td>,
      'The first': (group) => (
        <td class="ids">
          <Samples samples={group.samples} messagePath={messagePath} />
        </td>
      ),
    }}
  />
);

const Found = ({ trial, messagePath }: { trial: TrialView; messagePath: string | undefined }) => {
  const { answers, elements, differing, replayed, left } = trial;
  return (
    <>
      <dl class="facts">
        <Fact name="Resources would differ for">{counted(differing, 'message')}</Fact>
        <Fact name="A replay would create or change">{counted(replayed, 'stored resource')}</Fact>
        {left === 0 ? null : <Fact name="Not tried">{counted(left, 'message')}</Fact>}
      </dl>
      <Groups
        label="Other answers"
        groups={answers}
        empty="Every message would be answered as it is with the live rules."
        messagePath={messagePath}
        columns={{
          'Live rules': ({ before }) => before,
          Draft: ({ after }) => after,
          'First error': ({ reason }) => <code>{reason}</code>,
        }}
      />
      <Groups
        label="Elements that differ"
        groups={elements}
        empty="No resource would differ."
        messagePath={messagePath}
        columns={{ Element: ({ element }) => element }}
      />
    </>
  );
};

const Progress = ({ trial, path, mayChange }: { trial: TrialView; path: string; mayChange: boolean }) => (
  <dl class="facts compact">
    <Fact name="Started">
      <When at={trial.createdAt} /> by {trial.askedBy}
    </Fact>
    <Fact name="State">
      <Badge tone={TONES[trial.state]}>{trial.state === 'open' ? 'running' : trial.state}</Badge>{' '}
      {trial.done.toLocaleString('en')} of {(trial.total ?? trial.done).toLocaleString('en')} messages
      {trial.lastError === null ? '' : ` ${trial.lastError}`}
    </Fact>
    {trial.isOfDraft ? null : (
      <Fact name="Draft">It has been changed since. Start another trial to see what it does now.</Fact>
    )}
    {trial.state === 'open' && mayChange ? (
      <Fact name="Change">
        <form method="post" action={`${path}/stop`}>
          <button class="small secondary">Stop</button>
        </form>
      </Fact>
    ) : null}
  </dl>
);

const Live = ({ isLive, children }: PropsWithChildren<{ isLive: boolean }>) =>
  isLive ? (
    <Refreshed id="trial" seconds={5}>
      {children}
    </Refreshed>
  ) : (
    <>{children}</>
  );

export const TrialPage = ({ trial, path, mayChange, messagePath }: TrialPageProps) => (
  <>
    <p class="lead">
      A trial reads the newest messages of the key with the live rules and with the draft. It lists what differs for the
      data that is stored now, and changes nothing.
    </p>
    {mayChange && trial?.state !== 'open' ? (
      <form class="filter" method="post" action={path} aria-label="Start a trial">
        <Input label="Newest messages" name="messages" type="number" min={1} max={MAX_TRIED} value="1000" required />
        <button>Try the draft</button>
      </form>
    ) : null}
    {trial === undefined ? (
      <Empty>No trial yet.</Empty>
    ) : (
      <Live isLive={trial.state === 'open'}>
        <Progress {...{ trial, path, mayChange }} />
        <Found {...{ trial, messagePath }} />
      </Live>
    )}
  </>
);
