/** Messages as a table with columns to choose from. */
import type { Child } from 'hono/jsx';

import { senderText } from '../../../shared/hl7/sender-text.ts';
import type { ListedRow } from '../../store/message-search.ts';
import { Outcome, Table, Warnings, When } from '../web/ui.tsx';
import { Path } from '../web/path.tsx';
import { type ListedMessage, viewListedMessage } from './view.ts';

const duration = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

/** The outcome; an acceptance with warnings looks different. */
const Result = ({ message: { outcome, warnings, finding } }: { message: ListedMessage }) => (
  <>
    <Outcome outcome={outcome} /> <Warnings count={warnings} />
    {finding === null ? null : (
      <small class="finding quiet">
        <code>{finding.reason ?? finding.code}</code> {finding.at === undefined ? null : <Path at={finding.at} />}
      </small>
    )}
  </>
);

/** The fields that match the patient of the filter: two persons may have one identifier. */
const Matches = ({ named }: { named: NonNullable<ListedMessage['named']> }) => (
  <ul class="plain">
    {named.map(({ field, value, authority }) => (
      <li>
        {field}
        {value === '' ? '' : ' '}
        {value === '' ? null : <code>{value}</code>}
        {value === '' ? '' : authority === '' ? ', authority not sent' : ` of ${authority}`}
      </li>
    ))}
  </ul>
);

const PatientCell = ({ patient, path }: { patient: ListedMessage['patient']; path: string }) => {
  if (patient === null) return null;
  const { reference, name, identifier, authority } = patient;
  const shown = name === '' ? 'no name' : name;
  return (
    <>
      {reference !== null ? (
        <a href={`${path}/resources/${reference}`}>{shown}</a>
      ) : name === '' ? null : (
        <span class="quiet">{name}</span>
      )}{' '}
      {identifier === '' ? null : (
        <small>
          {identifier} <span class="quiet">{authority}</span>
        </small>
      )}
    </>
  );
};

interface CellPaths {
  readonly path: string;
  readonly keyPath: string;
}

interface Column {
  readonly title: string;
  readonly class?: string;
  readonly cell: (message: ListedMessage, paths: CellPaths) => Child;
}

/** The columns that a reader can choose, beside the time. */
export const COLUMNS = {
  patient: { title: 'Patient', cell: ({ patient }, { path }) => <PatientCell {...{ patient, path }} /> },
  type: { title: 'Type', cell: ({ messageType }) => messageType || <span class="quiet">unreadable</span> },
  controlId: { title: 'Control id', class: 'ids', cell: ({ controlId }) => <code>{controlId}</code> },
  sender: {
    title: 'Sender',
    cell: ({ sendingApplication, sendingFacility }) =>
      senderText({ application: sendingApplication, facility: sendingFacility }),
  },
  key: {
    title: 'API key',
    class: 'ids',
    cell: ({ clientId, keyName, source }, { keyPath }) => (
      <>
        <a href={`${keyPath}/${clientId}`}>{keyName}</a> <small class="quiet">{source.toUpperCase()}</small>
      </>
    ),
  },
  took: { title: 'Took', class: 'number', cell: ({ tookMs }) => (tookMs === null ? '' : duration(tookMs)) },
  outcome: { title: 'Outcome', cell: (message) => <Result message={message} /> },
} as const satisfies Readonly<Record<string, Column>>;
export type MessageColumn = keyof typeof COLUMNS;
const isColumn = (name: string): name is MessageColumn => Object.hasOwn(COLUMNS, name);
export const ALL_COLUMNS = Object.keys(COLUMNS).filter(isColumn);

/** The columns that a cookie names, in the order of the list; all columns if it names none of them. */
export function readColumns(cookie: string | undefined): readonly MessageColumn[] {
  const chosen = (cookie ?? '').split('.').filter(isColumn);
  return chosen.length === 0 ? ALL_COLUMNS : ALL_COLUMNS.filter((name) => chosen.includes(name));
}

interface MessageTableProps extends CellPaths {
  readonly items: readonly ListedRow[];
  readonly columns?: readonly MessageColumn[];
  /** Show where each message names the patient. */
  readonly isByPatient?: boolean;
}

const cellIn =
  (name: MessageColumn, paths: CellPaths) =>
  (message: ListedMessage): Child => {
    const column: Column = COLUMNS[name];
    return <td class={[`of-${name}`, column.class].filter(Boolean).join(' ')}>{column.cell(message, paths)}</td>;
  };

export const MessageTable = ({ items, columns, isByPatient = false, ...paths }: MessageTableProps) => {
  const chosen = columns ?? ALL_COLUMNS.filter((name) => name !== 'patient');
  return (
    <div class="messages">
      <Table
        label="Messages"
        rows={items.map(viewListedMessage)}
        columns={{
          Received: ({ messageId, receivedAt }) => (
            <th scope="row" class="narrow">
              <a href={`${paths.path}/${messageId}`}>
                <When at={receivedAt} />
              </a>{' '}
              <button type="button" class="small peek" data-preview={`${paths.path}/${messageId}`}>
                Preview
              </button>
            </th>
          ),
          ...(isByPatient && { 'Named in': ({ named }: ListedMessage) => <Matches named={named ?? []} /> }),
          ...Object.fromEntries(chosen.map((name) => [COLUMNS[name].title, cellIn(name, paths)])),
        }}
      />
    </div>
  );
};
