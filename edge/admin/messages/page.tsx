/** One HL7 message: what became of it, its errors, its segments, the resources it made and its ACK. */
import type { AttemptView, MessageDetail, MessageError } from './view.ts';
import type { SegmentView } from './segments.ts';
import { Badge, Code, Empty, Fact, Outcome, Row, Table, When } from '../web/ui.tsx';

export const Segments = ({ segments }: { segments: readonly SegmentView[] }) => (
  <div class="segments">
    {segments.map(({ id, name, fields }, at) => (
      <details open={at < 4}>
        <summary>
          <code>{id}</code> {name ?? <span class="quiet">not in the table of segments</span>}
        </summary>
        <Table label={`Segment ${at + 1}, ${id}`} head={['Field', 'Name', 'Value']}>
          {fields.map((field) => (
            <Row>
              <th scope="row">
                <code>{field.path}</code>
              </th>
              <td>{field.name ?? ''}</td>
              <td class="value">{field.value}</td>
            </Row>
          ))}
        </Table>
      </details>
    ))}
  </div>
);

const SEVERITIES: Readonly<Record<string, { tone: 'bad' | 'warn' | 'plain'; word: string }>> = {
  E: { tone: 'bad', word: 'error' },
  W: { tone: 'warn', word: 'warning' },
  I: { tone: 'plain', word: 'information' },
};

export const AckErrors = ({ errors }: { errors: readonly MessageError[] }) => (
  <Table label="Errors and warnings" head={['Severity', 'Where', 'Code', 'What']}>
    {errors.map(({ severity, at, code, message }) => (
      <Row>
        <td>
          <Badge tone={SEVERITIES[severity ?? '']?.tone ?? 'plain'}>
            {SEVERITIES[severity ?? '']?.word ?? severity}
          </Badge>
        </td>
        <td>
          <code>{at ?? ''}</code>
        </td>
        <td>{code}</td>
        <td>{message}</td>
      </Row>
    ))}
  </Table>
);

const REASONS = {
  received: 'it came',
  resent: 'sent again after it was refused',
  replayed: 'replayed',
  forced: 'replayed although newer data exist',
  retried: 'tried again after a fault of the gateway',
} as const;

const Attempts = ({ attempts }: { attempts: readonly AttemptView[] }) => (
  <Table label="Attempts" head={['Attempt', 'When', 'Why', 'Outcome', 'Errors and warnings']}>
    {attempts.map(({ number, at, why, actor, comment, outcome, errors }) => (
      <Row>
        <th scope="row">{number}</th>
        <td>
          <When at={at} />
        </td>
        <td>
          {REASONS[why]}
          {actor === null ? '' : ` by ${actor}`}
          {comment === null ? null : <q class="quiet">{comment}</q>}
        </td>
        <td>
          <Outcome outcome={outcome} />
        </td>
        <td>{errors.map(({ severity, code, at: place }) => `${severity} ${code} ${place ?? ''}`.trim()).join(', ')}</td>
      </Row>
    ))}
  </Table>
);

interface MessagePageProps {
  readonly message: MessageDetail;
  readonly path: string;
  readonly keyPath: string;
  readonly mayReplay: boolean;
}

export const MessagePage = ({ message, path, keyPath, mayReplay }: MessagePageProps) => (
  <>
    {mayReplay && !message.isForgotten ? (
      <p class="actions">
        <a class="button" href={`${path}/${message.messageId}/replay`}>
          Replay …
        </a>
        <span class="quiet">Shows first what it would change.</span>
      </p>
    ) : null}
    <dl class="facts">
      <Fact name="Outcome">
        <Outcome outcome={message.outcome} />
      </Fact>
      <Fact name="Received">
        <When at={message.receivedAt} /> by {message.source} from <code>{message.sourceAddress}</code>
        {message.tlsSubject === null ? (
          ''
        ) : (
          <>
            {' '}
            with the certificate of <code>{message.tlsSubject}</code>
          </>
        )}
      </Fact>
      <Fact name="Type">{message.messageType}</Fact>
      <Fact name="Control id">
        <code>{message.controlId}</code>
      </Fact>
      <Fact name="Sender">{[message.sendingApplication, message.sendingFacility].filter(Boolean).join(' / ')}</Fact>
      <Fact name="API key">
        <a href={`${keyPath}/${message.clientId}`}>{message.clientId}</a>
      </Fact>
      <Fact name="Request">
        <code>{message.requestId}</code>
      </Fact>
    </dl>
    {message.errors.length === 0 ? null : (
      <section aria-labelledby="errors">
        <h2 id="errors">Errors and warnings</h2>
        <AckErrors errors={message.errors} />
      </section>
    )}
    {message.attempts.length < 2 ? null : (
      <section aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        <p class="quiet">
          The sender gets the first AA whenever it sends these bytes again.
          {message.attemptCount > message.attempts.length
            ? ` It was processed ${message.attemptCount} times: the first ten and the newest hundred are kept.`
            : ''}
        </p>
        <Attempts attempts={message.attempts} />
      </section>
    )}
    <section aria-labelledby="resources">
      <h2 id="resources">Resources</h2>
      {message.resources.length === 0 ? (
        <Empty>It made or changed none.</Empty>
      ) : (
        <Table label="Resources" head={['Resource', 'Version it made', 'Version now']}>
          {message.resources.map(({ reference, version, currentVersion }) => (
            <Row>
              <th scope="row">
                <code>{reference}</code>
              </th>
              <td>{version}</td>
              <td>{currentVersion}</td>
            </Row>
          ))}
        </Table>
      )}
    </section>
    <section aria-labelledby="segments">
      <h2 id="segments">Segments</h2>
      {message.problem === null ? null : (
        <p>
          <Badge tone="bad">{message.problem}</Badge>
        </p>
      )}
      <Segments segments={message.segments} />
      <details>
        <summary>The message as it was sent</summary>
        <Code text={message.text} label="The message" copy />
      </details>
    </section>
    <section aria-labelledby="ack">
      <h2 id="ack">ACK</h2>
      {message.ack === null ? (
        <Empty>{message.isForgotten ? 'It is kept no longer.' : 'The sender asked for none.'}</Empty>
      ) : (
        <Code text={message.ack} label="The ACK" />
      )}
    </section>
  </>
);
