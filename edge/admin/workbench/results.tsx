/** The results of a bench: the verdict, then the problems, then the details, folded. */
import type { Issue } from '../../../shared/fault.ts';
import type { ResourceDifference } from '../messages/message-replay.ts';
import { AckErrors, RuleChanges, Segments } from '../messages/as-sent.tsx';
import { counted } from '../web/counted.ts';
import { Badge, Code, Fact, Outcome, Table, When } from '../web/ui.tsx';
import type { viewDryRun, viewExplanation } from './operations.ts';
import { Verdict } from './page.tsx';

type Explained = ReturnType<typeof viewExplanation>;
type Run = ReturnType<typeof viewDryRun>;

const RESULTS = { passed: 'good', failed: 'bad', skipped: 'plain' } as const;

const Checks = ({ label, checks }: { label: string; checks: Explained['checks'] }) => (
  <Table
    label={label}
    rows={checks}
    columns={{
      Check: ({ title }) => title,
      Result: ({ result }) => <Badge tone={RESULTS[result]}>{result}</Badge>,
      'Value seen': ({ seen }) => <td class="value">{seen ?? ''}</td>,
      Why: ({ reason }) => reason ?? '',
    }}
  />
);

/** Claims that are instants, as people read them. Milliseconds would be a year that no clock has. */
const Times = ({ claims = {} }: { claims?: object | undefined }) => {
  const given = new Map<string, unknown>(Object.entries(claims));
  const times = ['iat', 'nbf', 'exp'].flatMap((name) => {
    const seconds = given.get(name);
    return typeof seconds === 'number' && seconds > 0 && seconds < 10_000_000_000 ? [{ name, seconds }] : [];
  });
  if (times.length === 0) return null;
  return (
    <dl class="facts">
      {times.map(({ name, seconds }) => (
        <Fact name={name}>
          <When at={new Date(seconds * 1000).toISOString()} />
        </Fact>
      ))}
    </dl>
  );
};

export const Explanation = ({ explained }: { explained: Explained }) => {
  const { accepted, checks, header, claims } = explained;
  const of = (wanted: string) => checks.filter(({ result }) => result === wanted);
  const failed = of('failed');
  return (
    <section class="verdict" aria-labelledby="result">
      <Verdict isGood={accepted}>
        {accepted
          ? 'The token endpoint would accept this assertion now.'
          : `The token endpoint would reject this assertion: ${counted(failed.length, 'check fails', 'checks fail')} of ${checks.length}.`}
      </Verdict>
      {failed.length === 0 ? null : <Checks label="Checks that fail, in their order" checks={failed} />}
      {of('skipped').length === 0 ? null : (
        <details>
          <summary>{counted(of('skipped').length, 'check')} skipped</summary>
          <Checks label="Skipped checks" checks={of('skipped')} />
        </details>
      )}
      <details open={accepted}>
        <summary>{counted(of('passed').length, 'check')} passed</summary>
        <Checks label="Checks that passed, in their order" checks={of('passed')} />
      </details>
      {claims === null || header === null ? null : (
        <details>
          <summary>Header and claims</summary>
          <Times claims={claims} />
          <h3>Header</h3>
          <Code text={JSON.stringify(header, null, 2)} label="The header" />
          <h3>Claims</h3>
          <Code text={JSON.stringify(claims, null, 2)} label="The claims" />
        </details>
      )}
    </section>
  );
};

/** A page of all resources of the largest message needs more memory than a Worker has. */
const LISTED = 200;
const More = ({ all }: { all: readonly unknown[] }) =>
  all.length <= LISTED ? null : (
    <p class="quiet">
      {counted(all.length - LISTED, 'more', 'more')}: <code>/admin/api/workbench</code> returns all.
    </p>
  );

const Changes = ({ changes }: { changes: readonly ResourceDifference[] }) => {
  const rows = changes.flatMap(({ reference, elements }) => elements.map((element) => ({ reference, ...element })));
  return rows.length === 0 ? (
    <p class="quiet">No changes: the data is stored already, or newer data is.</p>
  ) : (
    <>
      <Table
        label="Changes"
        rows={rows.slice(0, LISTED)}
        columns={{
          Resource: ({ reference }) => <code>{reference}</code>,
          Element: ({ element }) => element,
          Now: ({ before }) => <td class="value">{before ?? <span class="quiet">nothing</span>}</td>,
          Then: ({ after }) => <td class="value">{after ?? <span class="quiet">nothing</span>}</td>,
        }}
      />
      <More all={rows} />
    </>
  );
};

/** `2 Observations, 1 Patient`. */
function madeOf(resources: Run['resources']): string {
  const types = Map.groupBy(resources, (resource) => String((resource as { resourceType?: unknown }).resourceType));
  return [...types].map(([type, some]) => `${some.length} ${type}`).join(', ');
}

export const DryRun = ({ run }: { run: Run }) => {
  const { outcome, errors, ack, resources, changes, ruleChanges, segments, moreSegments, problem } = run;
  const refused = errors.filter(({ severity }) => severity === 'E').length;
  const warned = errors.filter(({ severity }) => severity === 'W').length;
  return (
    <section class="verdict" aria-labelledby="result">
      <Verdict isGood={outcome === 'AA'}>
        <Outcome outcome={outcome} />{' '}
        {outcome === 'AA'
          ? `It would be stored${resources.length === 0 ? ' without a resource' : ` and create or change ${madeOf(resources)}`}.`
          : `It would be rejected: ${counted(refused, 'error')}.`}
        {warned === 0 ? '' : ` ${counted(warned, 'warning')}.`} Nothing was stored.
      </Verdict>
      {errors.length === 0 ? null : <AckErrors errors={errors} />}
      <details open>
        <summary>The acknowledgement</summary>
        {ack === null ? (
          <p class="quiet">None: the message requests none.</p>
        ) : (
          <Code text={ack} label="The ACK" copy />
        )}
      </details>
      {ruleChanges.length === 0 ? null : (
        <details open>
          <summary>Changed by rules</summary>
          <RuleChanges changes={ruleChanges} />
        </details>
      )}
      {outcome === 'AA' ? (
        <details open={changes !== null}>
          <summary>Changes</summary>
          {changes === null ? (
            <p class="quiet">
              The comparison with stored data needs a message that this key has sent, so that a made-up message shows no
              patient data. The resources of this message are below.
            </p>
          ) : (
            <Changes changes={changes} />
          )}
        </details>
      ) : null}
      {resources.length === 0 ? null : (
        <details>
          <summary>{counted(resources.length, 'resource')} of the message</summary>
          {resources.slice(0, LISTED).map((resource, at) => (
            <Code text={JSON.stringify(resource, null, 2)} label={`Resource ${at + 1}`} copy />
          ))}
          <More all={resources} />
        </details>
      )}
      <details>
        <summary>{problem === null ? counted(segments.length + moreSegments, 'segment') : 'Segments'}</summary>
        {problem === null ? <Segments segments={segments} more={moreSegments} /> : <p>{problem}</p>}
      </details>
    </section>
  );
};

export const Validation = ({ issues }: { issues: readonly Issue[] }) => (
  <section class="verdict" aria-labelledby="result">
    <Verdict isGood={issues.length === 0}>
      {issues.length === 0
        ? 'The resource is valid FHIR R4.'
        : `The resource is not valid FHIR R4: ${counted(issues.length, 'fault')}.`}
    </Verdict>
    {issues.length === 0 ? null : (
      <Table
        label="Faults"
        rows={issues.slice(0, LISTED)}
        columns={{
          Element: ({ at }) => <code>{at ?? ''}</code>,
          Fault: ({ message }) => message,
          Code: ({ code }) => code,
        }}
      />
    )}
    <More all={issues} />
  </section>
);
