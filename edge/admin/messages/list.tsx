/** The log of HL7 messages. */
import type { MessageList as Listed } from './listing.ts';
import { Empty, Filter, Moment, Outcome, Pager, Row, Search, Select, Table, When } from '../web/ui.tsx';

interface MessageListProps {
  readonly list: Listed;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
}

export const MessageList = ({ list, query, path }: MessageListProps) => (
  <>
    <Filter label="Messages">
      <Search label="Control id, application or facility" value={query['q'] ?? ''} />
      <label>
        <span>Type</span>
        <input name="type" value={query['type'] ?? ''} placeholder="ADT^A04" size={10} />
      </label>
      <Select
        name="outcome"
        label="Outcome"
        value={query['outcome'] ?? ''}
        options={[
          { value: '', label: 'any' },
          { value: 'AA', label: 'AA accepted' },
          { value: 'AE', label: 'AE error' },
          { value: 'AR', label: 'AR rejected' },
        ]}
      />
      <Moment name="from" label="From" value={query['from'] ?? ''} />
      <Moment name="to" label="To" value={query['to'] ?? ''} />
      {(query['unnamed'] ?? '') === '' ? null : <input type="hidden" name="unnamed" value={query['unnamed']} />}
    </Filter>
    {(query['unnamed'] ?? '') === '' ? null : (
      <p>
        Only those that have the name <code>{query['unnamed']?.slice(query['unnamed'].indexOf(':') + 1)}</code> without
        a URI. <a href={path}>Show all</a>
      </p>
    )}
    {list.items.length === 0 ? (
      <Empty>No message was found.</Empty>
    ) : (
      <Table label="Messages" head={['Received', 'Type', 'Control id', 'Sender', 'API key', 'By', 'Outcome']}>
        {list.items.map((message) => (
          <Row>
            <th scope="row">
              <a href={`${path}/${message.message_id}`}>
                <When at={message.received_at} />
              </a>
            </th>
            <td>{message.message_type || <span class="quiet">unreadable</span>}</td>
            <td>
              <code>{message.control_id}</code>
            </td>
            <td>{[message.sending_application, message.sending_facility].filter(Boolean).join(' / ')}</td>
            <td>{message.key_name}</td>
            <td>{message.source}</td>
            <td>
              <Outcome outcome={message.outcome} />
            </td>
          </Row>
        ))}
      </Table>
    )}
    <Pager path={path} query={query} next={list.next} />
  </>
);
