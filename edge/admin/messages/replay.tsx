/** The preview of a replay. Replacing newer data is a separate step. */
import type { ReplayPreview } from './message-replay.ts';
import { Empty, Input, Outcome, Section } from '../web/ui.tsx';
import { Differences } from './differences.tsx';
import { AckErrors } from './as-sent.tsx';

/** Why it is replayed: kept with the attempt. */
export const CommentField = () => (
  <Input label="Why (shown with the attempt; no patient data)" name="comment" maxlength={500} autocomplete="off" />
);

interface ReplayPageProps {
  readonly preview: ReplayPreview;
  readonly path: string;
  /** It is read by the draft of its key's rules, so it cannot be applied. */
  readonly isTrial: boolean;
}

const rulesText = (version: number | null, isTrial: boolean): string => {
  if (isTrial) return ' and the draft of the key’s rules';
  return version === null ? '' : ` and version ${version} of the key’s rules`;
};

export const ReplayPage = ({ preview, path, isTrial }: ReplayPageProps) => {
  const { outcome, findings, changes, merges, stale, rulesVersion } = preview;
  const changed = changes.filter(({ change }) => change !== 'unchanged');
  const isIdle = changed.length === 0 && merges.length === 0;
  return (
    <>
      <p class="lead">
        The stored bytes are mapped again with the current settings{rulesText(rulesVersion, isTrial)}. The outcome would
        be <Outcome outcome={outcome} />
      </p>
      {findings.length === 0 ? null : <AckErrors errors={findings} />}
      <Section id="changes" title="Changes">
        {merges.map(({ from, to }) => (
          <p>
            <code>Patient/{from}</code> would be merged into <code>Patient/{to}</code>.
          </p>
        ))}
        {changed.length === 0 ? (
          <Empty>No resource changes.{isTrial ? '' : ' The message gets an attempt with this outcome.'}</Empty>
        ) : (
          <Differences label="Changes" resources={changed} />
        )}
        {isTrial ? (
          <p>
            The draft is not live, so this cannot be applied. <a href={path}>Back to the message</a>
          </p>
        ) : (
          <form class="actions replay" method="post" action={`${path}/replay`}>
            <CommentField />
            <button name="apply" value="newest" class={isIdle ? 'secondary' : ''}>
              Apply
            </button>
            <a href={path}>Back to the message</a>
          </form>
        )}
      </Section>
      {stale.length === 0 ? null : (
        <Section id="stale" title="Elements with newer data">
          <p>
            These elements have newer data than this message. They stay as they are, unless you replace them with the
            data of this message.
          </p>
          <Differences label="Elements with newer data" resources={stale} />
          {isTrial ? null : (
            <form class="actions replay" method="post" action={`${path}/replay`}>
              <CommentField />
              <button name="apply" value="everything" class="secondary">
                Apply although newer data exist
              </button>
            </form>
          )}
        </Section>
      )}
    </>
  );
};
