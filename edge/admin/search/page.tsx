/** The results of the search box by kind, and the kinds without one. */
import type { PropsWithChildren } from 'hono/jsx';

import type { Config } from '../../config.ts';
import { MAX_COUNTED } from '../../store/message-candidates.ts';
import { PERMISSIONS } from '../../permissions.ts';
import type { Actor } from '../staff/actor.ts';
import { MessageTable } from '../messages/table.tsx';
import { Refusals } from '../requests/list.tsx';
import { counted } from '../web/counted.ts';
import { linkTo } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';
import { Badge, Empty, KeyStatus, Table } from '../web/ui.tsx';
import { type FoundPerson, type Findings, MAX_SHOWN, NEEDED } from './find.ts';
import { viewThing } from './operations.ts';

const TITLES: Readonly<Record<keyof Findings, string>> = {
  patients: 'Patients',
  resources: 'Resources',
  patientMessages: 'Messages that name the patient',
  messages: 'Messages by control id, sender or request id',
  apiKeys: 'API keys',
  requests: 'Rejected and failed requests',
};
const isKind = (text: string): text is keyof Findings => text in TITLES;
const KINDS = Object.keys(TITLES).filter(isKind);

/** The addresses of the lists that continue a kind. */
interface SearchLinks {
  readonly patientMessages: string;
  readonly messages: string;
  /** The audit; undefined without the permission. */
  readonly audit: string | undefined;
}

const Kind = ({ kind, found, children }: PropsWithChildren<{ kind: keyof Findings; found: Findings }>) => {
  const { items, isMore, count } = { count: undefined, ...found[kind] };
  if (items.length === 0) return null;
  const number =
    count === undefined ? (isMore ? `more than ${MAX_SHOWN}` : items.length) : Math.min(count, MAX_COUNTED);
  return (
    <section aria-labelledby={`found-${kind}`}>
      <h2 id={`found-${kind}`}>
        {TITLES[kind]} <span class="quiet">{number}</span>
      </h2>
      {children}
    </section>
  );
};

interface PeopleProps {
  readonly people: readonly FoundPerson[];
  readonly config: Config;
  readonly audit: string | undefined;
}

const People = ({ people, config, audit }: PeopleProps) => (
  <Table
    label="Patients"
    rows={people}
    columns={{
      Name: ({ reference, families, givens, isMerged }) => (
        <>
          <a href={`${linkTo(config, PLACES.messages.path)}/resources/${reference}`}>
            {[families.join(' / '), givens.join(' / ')].filter(Boolean).join(', ') || reference}
          </a>{' '}
          {isMerged ? <Badge tone="warn">merged</Badge> : null}
        </>
      ),
      'Birth date': ({ birthDate }) => birthDate ?? '',
      Sex: ({ gender }) => gender ?? '',
      Identifiers: ({ identifiers }) => (
        <td class="value">
          {identifiers.map(({ issuer, value }) => (issuer === null ? value : `${value} (${issuer})`)).join('\n')}
        </td>
      ),
      Address: ({ addresses }) => <td class="value">{addresses.join('\n')}</td>,
      ...(audit !== undefined && {
        Audit: ({ reference }: FoundPerson) => (
          <a href={`${audit}?patient=${reference.replace('Patient/', '')}`}>Accesses</a>
        ),
      }),
    }}
  />
);

const All = ({ found: { items, count }, href }: { found: Findings['messages']; href: string }) =>
  count <= items.length ? null : (
    <p>
      <a href={href}>
        {count > MAX_COUNTED
          ? `Show all, more than ${counted(MAX_COUNTED, 'message')}`
          : `Show all ${counted(count, 'message')}`}
      </a>
    </p>
  );

interface SearchPageProps {
  readonly text: string;
  readonly found: Findings;
  readonly actor: Actor;
  readonly links: SearchLinks;
  readonly config: Config;
}

export const SearchPage = ({ text, found, actor, links, config }: SearchPageProps) => {
  const messagePath = linkTo(config, PLACES.messages.path);
  const keyPath = linkTo(config, PLACES.keys.path);
  const allowed = KINDS.filter((kind) => actor.permissions.has(NEEDED[kind]));
  const without = allowed.filter((kind) => found[kind].items.length === 0).map((kind) => TITLES[kind]);
  const hidden = KINDS.filter((kind) => !allowed.includes(kind));
  const messages = { path: messagePath, keyPath };
  return (
    <>
      <p class="lead">
        Results for <strong>{text}</strong>
      </p>
      {without.length === allowed.length ? (
        <Empty>
          Nothing has this text as its identifier, control id, request id, Client ID or resource id, and no name
          contains it. Identifiers and ids must be complete. Names and control ids need three characters or more.
        </Empty>
      ) : null}
      <Kind kind="patients" found={found}>
        <People people={found.patients.items} config={config} audit={links.audit} />
      </Kind>
      <Kind kind="patientMessages" found={found}>
        <MessageTable items={found.patientMessages.items} isByPatient {...messages} />
        <All found={found.patientMessages} href={links.patientMessages} />
      </Kind>
      <Kind kind="messages" found={found}>
        <MessageTable items={found.messages.items} {...messages} />
        <All found={found.messages} href={links.messages} />
      </Kind>
      <Kind kind="requests" found={found}>
        <Refusals items={found.requests.items} config={config} />
      </Kind>
      <Kind kind="apiKeys" found={found}>
        <Table
          label="API keys"
          rows={found.apiKeys.items}
          columns={{
            Name: ({ client_id: clientId, name }) => <a href={`${keyPath}/${clientId}`}>{name}</a>,
            Status: ({ status }) => <KeyStatus status={status} />,
            'Client ID': ({ client_id: clientId }) => (
              <td class="ids">
                <code>{clientId}</code>
              </td>
            ),
          }}
        />
      </Kind>
      <Kind kind="resources" found={found}>
        <Table
          label="Resources"
          rows={found.resources.items.map(viewThing)}
          columns={{
            Resource: ({ reference }) => (
              <a
                href={
                  reference.startsWith('Hl7Message/')
                    ? `${messagePath}/${reference.slice('Hl7Message/'.length)}`
                    : `${messagePath}/resources/${reference}`
                }
              >
                {reference.replace('Hl7Message/', 'HL7 message ')}
              </a>
            ),
            Patient: ({ patient }) => (
              <td class="ids">
                {patient === null ? null : <a href={`${messagePath}/resources/${patient}`}>{patient}</a>}
              </td>
            ),
          }}
        />
      </Kind>
      <section class="quiet">
        {without.length === 0 || without.length === allowed.length ? null : (
          <p>Nothing found in: {without.join(', ')}.</p>
        )}
        {hidden.length === 0 ? null : (
          <p>
            Not searched: {hidden.map((kind) => TITLES[kind]).join(', ')}. You need the permission to{' '}
            {[...new Set(hidden.map((kind) => PERMISSIONS[NEEDED[kind]]))].join(', and to ')}.
          </p>
        )}
      </section>
    </>
  );
};
