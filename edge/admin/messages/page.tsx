/** One HL7 message: what became of it, what is wrong with it, what it changed, its segments and its ACK, and what is around it. */
import { senderText } from '../../../shared/hl7/sender-text.ts';
import type { AroundView, AttemptView, ChangeView, MessageDetail } from './view.ts';
import { AckErrors, inOrder, RuleChanges, Segments } from './as-sent.tsx';
import { Changed } from './differences.tsx';
import { Path } from '../web/path.tsx';
import { Badge, Code, Copyable, Empty, Fact, Outcome, Section, Table, Warnings, When } from '../web/ui.tsx';

const REASONS = {
  received: 'received',
  resent: 'sent again after it was rejected',
  replayed: 'replayed',
  forced: 'replayed although newer data exist',
  retried: 'tried again after a fault of the gateway',
} as const;

/** For one row: a message may be tried a hundred times, each with a thousand errors. */
const MAX_ERRORS_OF_ATTEMPT = 20;

const Attempts = ({ attempts }: { attempts: readonly AttemptView[] }) => (
  <Table
    label="Attempts"
    rows={attempts}
    columns={{
      Attempt: ({ number }) => (
        <th scope="row" class="number">
          {number}
        </th>
      ),
      When: ({ at }) => <When at={at} />,
      Why: ({ why, actor, comment, rulesVersion }) => (
        <>
          {REASONS[why]}
          {actor === null ? '' : ` by ${actor}`}
          {comment === null ? null : <q class="quiet">{comment}</q>}
          {rulesVersion === null ? '' : ` by version ${rulesVersion} of the key’s rules`}
        </>
      ),
      Request: ({ requestId }) => (
        <td class="ids">
          <code>{requestId}</code>
        </td>
      ),
      Took: ({ tookMs }) => <td class="number">{tookMs === null ? '' : `${tookMs} ms`}</td>,
      Outcome: ({ outcome }) => <Outcome outcome={outcome} />,
      'Errors and warnings': ({ errors }) => (
        <>
          {inOrder(errors)
            .slice(0, MAX_ERRORS_OF_ATTEMPT)
            .map(({ severity, code, at: place }, n) => (
              <>
                {n === 0 ? '' : ', '}
                {severity} {code} {place === undefined ? null : <Path at={place} />}
              </>
            ))}
          {errors.length > MAX_ERRORS_OF_ATTEMPT ? ` and ${errors.length - MAX_ERRORS_OF_ATTEMPT} more` : ''}
        </>
      ),
    }}
  />
);

const AROUND = [
  { of: 'patient', side: 'previous', label: 'Previous message of the patient' },
  { of: 'patient', side: 'next', label: 'Next message of the patient' },
  { of: 'order', side: 'previous', label: 'Previous message of the order' },
  { of: 'order', side: 'next', label: 'Next message of the order' },
  { of: 'control-id', side: 'other', label: 'Other message with this control id' },
] as const;

const Around = ({ around, path }: { around: readonly AroundView[]; path: string }) => (
  <dl class="facts around">
    {AROUND.flatMap(({ of, side, label }) =>
      around
        .filter((each) => each.of === of && each.side === side)
        .map(({ messageId, messageType, receivedAt, outcome }) => (
          <Fact name={label}>
            <a href={`${path}/${messageId}`} rel={side === 'previous' ? 'prev' : side === 'next' ? 'next' : undefined}>
              {messageType || 'unreadable'}, <When at={receivedAt} />
            </a>{' '}
            <Outcome outcome={outcome} />
          </Fact>
        )),
    )}
  </dl>
);

const versionText = ({ change, version, currentVersion }: ChangeView): string => {
  const own = change === 'unchanged' ? `stayed at version ${version}` : `version ${version}`;
  return currentVersion === version ? `${own}, the current one` : `${own}; the current one is ${currentVersion}`;
};

const CHANGES = {
  created: { tone: 'good', word: 'created' },
  changed: { tone: 'good', word: 'changed' },
  unchanged: { tone: 'plain', word: 'no change' },
} as const;

const Compared = ({ change }: { change: ChangeView }) => {
  if (change.change === 'unchanged') return <p class="quiet">The resource already said what this message says.</p>;
  if (change.isForgotten) {
    return <p class="quiet">This version or the one before it is no longer kept, so the change cannot be shown.</p>;
  }
  if (change.isLong) return <p class="quiet">The text is too long to be compared here.</p>;
  return <Changed change={change} />;
};

/** The versions that the message wrote, and the resources that it left unchanged, each a link. */
const Changes = ({ changes, path }: { changes: readonly ChangeView[]; path: string }) => (
  <div class="changes">
    {changes.map((each, at) => {
      const { reference, version, currentVersion, change } = each;
      const { tone, word } = CHANGES[change];
      return (
        <details open={at < 3 && change === 'changed'}>
          <summary>
            <code>{reference}</code> <Badge tone={tone}>{word}</Badge> <small class="quiet">{versionText(each)}</small>
          </summary>
          <p>
            <a href={`${path}/resources/${reference}?version=${version}`}>Show version {version}</a>
            {currentVersion === version ? null : (
              <>
                {' '}
                or <a href={`${path}/resources/${reference}`}>the current version</a>
              </>
            )}
          </p>
          <Compared change={each} />
        </details>
      );
    })}
  </div>
);

const WAYS = { http: 'HTTP', mllp: 'MLLP' } as const;

interface MessagePageProps {
  readonly message: MessageDetail;
  readonly path: string;
  readonly keyPath: string;
  readonly mayReplay: boolean;
  /** The text as it was sent, in the place of the table. */
  readonly isRaw: boolean;
}

const firstTook = (attempts: readonly AttemptView[]): string => {
  const took = attempts.find(({ number }) => number === 1)?.tookMs;
  return took === undefined || took === null ? '' : `, answered in ${took} ms`;
};

export const MessagePage = ({ message, path, keyPath, mayReplay, isRaw }: MessagePageProps) => {
  const own = `${path}/${message.messageId}`;
  const warnings = message.errors.filter(({ severity }) => severity === 'W').length;
  const tab = (view: string, title: string, isOn: boolean) => (
    <a href={`${own}?view=${view}#segments`} aria-current={isOn ? 'page' : undefined}>
      {title}
    </a>
  );
  return (
    <>
      <dl class="facts compact">
        <Fact name="Outcome">
          <Outcome outcome={message.outcome} /> <Warnings count={warnings} />
        </Fact>
        <Fact name="Received">
          <When at={message.receivedAt} /> by {WAYS[message.source]} from <code>{message.sourceAddress}</code>
          {message.tlsSubject === null ? (
            ''
          ) : (
            <>
              {' '}
              with the certificate of <code>{message.tlsSubject}</code>
            </>
          )}
          {firstTook(message.attempts)}
        </Fact>
        <Fact name="Type">{message.messageType || <span class="quiet">unreadable</span>}</Fact>
        <Fact name="Control id">
          {message.controlId === '' ? (
            <span class="quiet">none</span>
          ) : (
            <Copyable text={message.controlId} label="the control id" />
          )}
        </Fact>
        <Fact name="Sender">
          {senderText({ application: message.sendingApplication, facility: message.sendingFacility }) || (
            <span class="quiet">none</span>
          )}
        </Fact>
        <Fact name="API key">
          <a href={`${keyPath}/${message.clientId}`}>{message.keyName}</a>
        </Fact>
        <Fact name="Request">
          <code>{message.requestId}</code>
        </Fact>
        {message.isForgotten ? null : (
          <Fact name="Ticket">
            <a class="button secondary small" href={`${own}/ticket-copy`}>
              Copy for a ticket
            </a>{' '}
            <span class="quiet">without the patient</span>
          </Fact>
        )}
        {mayReplay && !message.isForgotten ? (
          <Fact name="Replay">
            <a class="button secondary small" href={`${own}/replay`}>
              Replay …
            </a>{' '}
            <span class="quiet">with a preview</span>
          </Fact>
        ) : null}
      </dl>
      {message.errors.length === 0 ? null : (
        <Section id="errors" title="Errors and warnings">
          <AckErrors errors={message.errors} />
        </Section>
      )}
      <section aria-labelledby="segments">
        <div class="heading">
          <h2 id="segments">The message</h2>
          {message.isForgotten ? null : (
            <nav class="tabs" aria-label="How the message is shown">
              {tab('parsed', 'Side by side', !isRaw)}
              {tab('raw', 'As it was sent', isRaw)}
            </nav>
          )}
        </div>
        {message.problem === null ? null : (
          <p>
            <Badge tone="bad">{message.problem}</Badge>
          </p>
        )}
        {isRaw || message.segments.length === 0 ? (
          message.text === '' ? null : (
            <Code text={message.text} label="The message" copy />
          )
        ) : (
          <Segments segments={message.segments} more={message.moreSegments} />
        )}
      </section>
      {message.ruleChanges.length === 0 ? null : (
        <Section id="rules" title="Changed by rules">
          <RuleChanges changes={message.ruleChanges} />
        </Section>
      )}
      {message.around.length === 0 ? null : (
        <Section id="around" title="Related messages">
          <Around around={message.around} path={path} />
        </Section>
      )}
      <Section id="resources" title="Changes">
        {message.resources.length === 0 ? (
          <Empty>This message wrote no resource.</Empty>
        ) : (
          <Changes changes={message.resources} path={path} />
        )}
        {message.hasMoreResources ? (
          <p class="quiet">Only the first {message.resources.length.toLocaleString('en')} entries are shown.</p>
        ) : null}
      </Section>
      <Section id="ack" title="ACK">
        {message.ack === null ? (
          <Empty>{message.isForgotten ? 'The ACK is no longer kept.' : 'The sender requested no ACK.'}</Empty>
        ) : (
          <Code text={message.ack} label="The ACK" copy />
        )}
      </Section>
      <Section id="attempts" title="Attempts">
        <p class="quiet">
          {message.attempts.some(({ outcome }) => outcome === 'AA')
            ? 'The sender gets the first AA whenever it sends these bytes again.'
            : 'If the sender sends these bytes again, the gateway processes them again.'}
          {message.attemptCount > message.attempts.length
            ? ` It was processed ${message.attemptCount} times: the first ten and the newest hundred are kept.`
            : ''}
        </p>
        <Attempts attempts={message.attempts} />
      </Section>
    </>
  );
};
