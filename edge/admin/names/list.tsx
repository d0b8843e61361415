/** Names without a URI: how many messages have them, a field to name them, and the way to the messages. */
import { MAX_COUNT } from '../../store/admin-unmapped-name.ts';
import type { NameKind } from '../../store/unmapped-name.ts';
import { type ListProps, OfSite, Pager, Table, When } from '../web/ui.tsx';
import type { UnmappedView } from './listing.ts';
import { toParameter } from './parameter.ts';

export const KINDS: Readonly<Record<NameKind, string>> = {
  authority: 'assigning authority',
  'code-system': 'code system',
};

/** A name that could not be given the URI that was sent. */
export interface Refused {
  readonly kind: string;
  readonly name: string;
  readonly system: string;
}

interface NameProps {
  readonly item: UnmappedView;
  readonly path: string;
  readonly messagePath: string;
  /** Link to replays; undefined without the permission. */
  readonly replayPath: string | undefined;
  readonly mayName: boolean;
  readonly refused?: Refused | undefined;
}

const NameForm = ({ item, path, refused }: NameProps) => {
  const isRefused = refused !== undefined && refused.kind === item.kind && refused.name === item.name;
  return (
    <form class="choices" method="post" action={path}>
      <OfSite />
      <input type="hidden" name="kind" value={item.kind} />
      <input type="hidden" name="name" value={item.name} />
      <input
        class="mono"
        name="system"
        value={isRefused ? refused.system : ''}
        placeholder={item.kind === 'authority' ? 'urn:oid:…' : 'https://…'}
        aria-label={`URI of ${item.name}`}
        aria-invalid={isRefused ? 'true' : undefined}
        autocomplete="off"
        required
      />
      <button class="small">Name it …</button>
    </form>
  );
};

const unmapped = (item: UnmappedView) => new URLSearchParams({ unmapped: toParameter(item) });

const Uri = (props: NameProps) => {
  const { item, replayPath, mayName } = props;
  if (item.system === null) return mayName ? <NameForm {...props} /> : <span class="quiet">none</span>;
  return (
    <>
      <code>{item.system}</code>{' '}
      {replayPath === undefined ? (
        <span class="quiet">its messages must be processed again</span>
      ) : (
        <a href={`${replayPath}?${unmapped(item).toString()}&count=1`}>Process its messages again …</a>
      )}
    </>
  );
};

interface NameListProps extends ListProps<UnmappedView>, Omit<NameProps, 'item'> {
  /** Link to the URIs of namespaces. */
  readonly aliasPath: string;
}

export const NameList = ({ list, query, aliasPath, ...at }: NameListProps) => (
  <>
    <p class="lead">
      Messages name assigning authorities and coding systems by short names that only this hospital knows. Without a
      URI, the names of two senders stay different, and FHIR clients do not find codes by their URI. A URI is permanent:
      with another URI, the same identifier value is another patient.
    </p>
    <p>
      Some senders send the URI with the name: see the <a href={aliasPath}>URIs of their namespaces</a>, by API key.
    </p>
    <Table
      label="Names without a URI"
      rows={list.items}
      empty="Each name in the messages has a URI."
      columns={{
        Name: ({ name }) => <code>{name}</code>,
        Kind: ({ kind }) => KINDS[kind],
        Messages: (item) => (
          <a href={`${at.messagePath}?${unmapped(item).toString()}`}>
            {item.messages >= MAX_COUNT ? `${MAX_COUNT} or more` : item.messages}
          </a>
        ),
        Last: ({ lastMessageId, lastAt, lastKeyName }) => (
          <>
            <a href={`${at.messagePath}/${lastMessageId}`}>
              <When at={lastAt} />
            </a>{' '}
            of {lastKeyName}
          </>
        ),
        URI: (item) => <Uri {...{ item }} {...at} />,
      }}
    />
    <Pager path={at.path} query={query} next={list.next} />
  </>
);
