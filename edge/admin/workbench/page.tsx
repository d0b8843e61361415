/** The workbench: paste an assertion, a message or a resource, and see what the gateway would make of it. */
import type { PropsWithChildren } from 'hono/jsx';

import type { Issue } from '../../../shared/fault.ts';
import type { KeyRow } from '../keys/statements.ts';
import type { viewDryRun, viewExplanation } from './operations.ts';
import { AckErrors, Segments } from '../messages/page.tsx';
import { Badge, Code, Notice, Outcome, Row, Select, Table } from '../web/ui.tsx';

export const BENCHES = [
  { name: 'assertion', title: 'Assertion', permission: 'site.api_keys.read' },
  { name: 'message', title: 'HL7 message', permission: 'site.messages.read' },
  { name: 'resource', title: 'FHIR resource', permission: 'site.api_keys.read' },
] as const;
export type Bench = (typeof BENCHES)[number]['name'];

interface BenchProps {
  readonly path: string;
  readonly bench: Bench;
  readonly benches: readonly Bench[];
  readonly pasted: string;
  readonly keys?: readonly KeyRow[];
  readonly clientId?: string;
}

const ASKED: Readonly<Record<Bench, { label: string; hint: string; button: string }>> = {
  assertion: {
    label: 'Client assertion',
    hint: 'The signed JWT, three parts with dots between. It is not used up: only looked at.',
    button: 'Check',
  },
  message: {
    label: 'HL7 v2 message',
    hint: 'Segments each on a line of their own. Nothing is stored.',
    button: 'Try',
  },
  resource: {
    label: 'FHIR resource',
    hint: 'R4 JSON of one of the seven types. Nothing is stored.',
    button: 'Validate',
  },
};

export const WorkbenchPage = (props: PropsWithChildren<BenchProps>) => {
  const { path, bench, benches, pasted, keys, clientId = '', children } = props;
  const { label, hint, button } = ASKED[bench];
  return (
    <>
      <nav class="tabs" aria-label="Workbench">
        {BENCHES.filter(({ name }) => benches.includes(name)).map(({ name, title }) => (
          <a href={`${path}/${name}`} aria-current={name === bench ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <form class="record" method="post" action={`${path}/${bench}`}>
        {keys === undefined ? null : (
          <div class="field">
            <Select
              name="clientId"
              label="As if sent with"
              value={clientId}
              options={keys.map((key) => ({
                value: key.client_id,
                label: `${key.name} (${key.protocols.join(', ')})`,
              }))}
            />
          </div>
        )}
        <div class="field">
          <label for="pasted">{label}</label>
          <textarea id="pasted" name="pasted" rows={12} class="mono" aria-describedby="pasted-hint" required>
            {pasted}
          </textarea>
          <p class="hint" id="pasted-hint">
            {hint}
          </p>
        </div>
        <p class="actions">
          <button>{button}</button>
        </p>
      </form>
      {children}
    </>
  );
};

const RESULTS = { passed: 'good', failed: 'bad', skipped: 'plain' } as const;

export const Explanation = ({ explained }: { explained: ReturnType<typeof viewExplanation> }) => (
  <section aria-labelledby="result">
    <h2 id="result">Result</h2>
    <Notice tone={explained.accepted ? 'good' : 'bad'}>
      {explained.accepted
        ? 'The token endpoint would accept this assertion now.'
        : 'The token endpoint would refuse this assertion.'}
    </Notice>
    <Table label="Checks, in the order in which they are made" head={['Check', 'Result', 'Value seen', 'Why']}>
      {explained.checks.map(({ title, result, seen, reason }) => (
        <Row>
          <th scope="row">{title}</th>
          <td>
            <Badge tone={RESULTS[result]}>{result}</Badge>
          </td>
          <td class="value">{seen ?? ''}</td>
          <td>{reason ?? ''}</td>
        </Row>
      ))}
    </Table>
    {explained.header === null ? null : <Code text={JSON.stringify(explained.header, null, 2)} label="The header" />}
    {explained.claims === null ? null : <Code text={JSON.stringify(explained.claims, null, 2)} label="The claims" />}
  </section>
);

export const DryRun = ({ run }: { run: ReturnType<typeof viewDryRun> }) => (
  <section aria-labelledby="result">
    <h2 id="result">Result</h2>
    <p>
      <Outcome outcome={run.outcome} />
    </p>
    {run.errors.length === 0 ? null : <AckErrors errors={run.errors} />}
    <h3>ACK</h3>
    {run.ack === null ? <p class="quiet">The message asks for none.</p> : <Code text={run.ack} label="The ACK" />}
    <h3>Resources it would make</h3>
    {run.resources.length === 0 ? <p class="quiet">None.</p> : null}
    {run.resources.map((resource, at) => (
      <Code text={JSON.stringify(resource, null, 2)} label={`Resource ${at + 1}`} />
    ))}
    <h3>Segments</h3>
    <Segments segments={run.segments} />
  </section>
);

export const Validation = ({ issues }: { issues: readonly Issue[] }) => (
  <section aria-labelledby="result">
    <h2 id="result">Result</h2>
    {issues.length === 0 ? (
      <Notice tone="good">The resource is valid FHIR R4.</Notice>
    ) : (
      <Table label="Issues" head={['Where', 'What', 'Code']}>
        {issues.map(({ at, message, code }) => (
          <Row>
            <th scope="row">
              <code>{at ?? ''}</code>
            </th>
            <td>{message}</td>
            <td>{code}</td>
          </Row>
        ))}
      </Table>
    )}
  </section>
);
