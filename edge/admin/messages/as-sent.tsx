/** A message as it was sent: its segments side by side with what is wrong, and what rules changed. */
import type { RuleChange } from './message-replay.ts';
import type { ComponentView, FieldView, Finding, SegmentView } from './segments.ts';
import { Path } from '../web/path.tsx';
import { counted } from '../web/counted.ts';
import { Badge, Table } from '../web/ui.tsx';

const SEVERITIES: Readonly<Record<string, { tone: 'bad' | 'warn' | 'plain'; word: string }>> = {
  E: { tone: 'bad', word: 'error' },
  W: { tone: 'warn', word: 'warning' },
  I: { tone: 'plain', word: 'information' },
};

const Severity = ({ severity = '' }: { severity: string | undefined }) => (
  <Badge tone={SEVERITIES[severity]?.tone ?? 'plain'}>{SEVERITIES[severity]?.word ?? severity}</Badge>
);

/** Errors first, then warnings. */
export const inOrder = (errors: readonly Finding[]): Finding[] =>
  errors.toSorted((one, other) => 'EWI'.indexOf(one.severity ?? '') - 'EWI'.indexOf(other.severity ?? ''));

export const AckErrors = ({ errors }: { errors: readonly Finding[] }) => (
  <Table
    label="Errors and warnings"
    rows={inOrder(errors)}
    columns={{
      Severity: ({ severity }) => (
        <td>
          <Severity severity={severity} />
        </td>
      ),
      Where: ({ at }) => (at === undefined ? '' : <Path at={at} />),
      Code: ({ code }) => code,
      Reason: ({ reason }) => (
        <td class="ids">
          <code>{reason ?? ''}</code>
        </td>
      ),
      What: ({ message }) => message,
    }}
  />
);

/** The findings at a place. */
const Problems = ({ findings }: { findings: readonly Finding[] }) =>
  findings.length === 0 ? null : (
    <ul class="plain wrong">
      {findings.map(({ severity, message }) => (
        <li>
          <Severity severity={severity} /> {message}
        </li>
      ))}
    </ul>
  );

/** A value may hold a whole document. */
const MAX_SHOWN = 2000;
const shortened = (value: string): string =>
  value.length <= MAX_SHOWN
    ? value
    : `${value.slice(0, MAX_SHOWN)} … (${value.length.toLocaleString('en')} characters)`;

const Components = ({ components }: { components: readonly ComponentView[] }) => (
  <dl class="components">
    {components.map(({ number, name, value }) => (
      <div>
        <dt>
          {number} {name ?? ''}
        </dt>
        <dd>{shortened(value)}</dd>
      </div>
    ))}
  </dl>
);

/** The text as it was sent is beside it; a value that has components is shown by these alone. */
const Value = ({ field: { value, repetitions, moreRepetitions, findings } }: { field: FieldView }) => (
  <>
    {value === '' ? (
      <span class="quiet">not sent</span>
    ) : repetitions.length === 0 ? (
      <code class="sent">{shortened(value)}</code>
    ) : null}
    {repetitions.length > 1 ? (
      <ol class="repetitions">
        {repetitions.map((components) => (
          <li>
            <Components components={components} />
          </li>
        ))}
      </ol>
    ) : (
      repetitions.map((components) => <Components components={components} />)
    )}
    <More count={moreRepetitions} one="repetition" />
    <Problems findings={findings} />
  </>
);

const toneOf = (findings: readonly Finding[]): string => {
  const [worst] = findings.map(({ severity }) => severity ?? '').sort();
  return worst === 'E' ? 'faulty bad' : worst === 'W' ? 'faulty warn' : '';
};

/** Entries that are kept and not listed. */
const More = ({ count, one }: { count: number; one: string }) =>
  count === 0 ? null : <p class="quiet">{counted(count, `more ${one}`)}: the message as it was sent has all.</p>;

const numberOf = ({ path }: FieldView): number => Number(path.slice(path.indexOf('-') + 1));
/** The mark of a field in both views: the segment's position in the message, and the field's number. */
const markOf = (at: number, field: FieldView): string => `s${at + 1}-${numberOf(field)}`;

/** Segments that declare the delimiters. */
const DECLARING: ReadonlySet<string> = new Set(['MSH', 'BHS', 'FHS']);
const separatorOf = (segments: readonly SegmentView[]): string =>
  segments.find(({ id }) => DECLARING.has(id))?.fields[0]?.value ?? '|';

/** A segment as it was sent, up to its last field with a value. Each field is a link to its row in the table. */
const Line = ({ segment: { id, fields, moreFields }, at, by }: { segment: SegmentView; at: number; by: string }) => {
  // MSH-1 is the delimiter itself.
  const first = DECLARING.has(id) ? 1 : 0;
  const shown = fields.filter((field) => numberOf(field) > first);
  return (
    <span class="line">
      <b>{id}</b>
      {shown.map((field, n) => {
        const before = shown[n - 1];
        const mark = markOf(at, field);
        return (
          <>
            {by.repeat(numberOf(field) - (before === undefined ? first : numberOf(before)))}
            {field.value === '' ? null : (
              <a href={`#${mark}`} data-mark={mark} class={toneOf(field.findings)}>
                {shortened(field.value)}
              </a>
            )}
          </>
        );
      })}
      {moreFields === 0 ? '' : ' …'}
    </span>
  );
};

/** A message as it was sent, and beside it each field by name. The script marks a field in both. */
export const Segments = ({ segments, more }: { segments: readonly SegmentView[]; more: number }) => (
  <div class="pair">
    <div class="beside">
      <pre tabindex={0} role="group" aria-label="The segments as they were sent">
        <code>
          {segments.map((segment, at) => (
            <Line {...{ segment, at }} by={separatorOf(segments)} />
          ))}
        </code>
      </pre>
      <div class="segments">
        {segments.map(({ id, name, fields, moreFields, findings }, at) => {
          const all = [...findings, ...fields.flatMap((field) => field.findings)];
          const serious = all.filter(({ severity }) => severity !== 'I');
          return (
            <details open={at < 4 || serious.length > 0}>
              <summary>
                <code>{id}</code> {name ?? <span class="quiet">not in the table of segments</span>}{' '}
                {serious.length === 0 ? null : (
                  <Badge tone={serious.some(({ severity }) => severity === 'E') ? 'bad' : 'warn'}>
                    {counted(serious.length, 'finding')}
                  </Badge>
                )}
              </summary>
              <Problems findings={findings} />
              {fields.length === 0 ? (
                <p class="quiet">It has no fields.</p>
              ) : (
                <Table
                  label={`Segment ${at + 1}, ${id}`}
                  rows={fields}
                  idOf={(field) => markOf(at, field)}
                  columns={{
                    Field: (field) => <code>{field.path}</code>,
                    Name: (field) => field.name ?? '',
                    Value: (field) => (
                      <td class={`value ${toneOf(field.findings)}`}>
                        <Value field={field} />
                      </td>
                    ),
                  }}
                />
              )}
              <More count={moreFields} one="field" />
            </details>
          );
        })}
        <More count={more} one="segment" />
      </div>
    </div>
  </div>
);

/** The fields of a message that rules of its key changed. */
export const RuleChanges = ({ changes }: { changes: readonly RuleChange[] }) => (
  <Table
    label="Fields that rules changed"
    rows={changes}
    columns={{
      Rule: ({ rule }) => rule,
      Field: ({ at }) => <Path at={at} />,
      'As sent': ({ before }) => (
        <td class="ids">
          <code>{before}</code>
        </td>
      ),
      'As it was read': ({ after }) => (
        <td class="ids">
          <code>{after}</code>
        </td>
      ),
    }}
  />
);
