/** The errors of each surface, from the tables of the surfaces. */
import { FHIR_ISSUES, TOKEN_REFUSALS } from '../../refusals.ts';
import { ISSUE_TYPE } from '../../fhir/outcome.ts';
import { FAULT_STATUS } from '../../http/fault-status.ts';
import { titleOf } from '../../http/problem.ts';
import { issueAnchor, statusAnchor } from '../../http/reference-address.ts';
import { MAX_REQUEST_IDS } from '../../store/refusal.ts';
import { Section, Table } from '../../admin/web/ui.tsx';
import { type Kind, MEANING, STATUS_OF } from '../answers.ts';
import { referencePath, type Site, TextPage } from './frame.tsx';

const KINDS = (Object.keys(MEANING) as Kind[]).toSorted((a, b) => STATUS_OF[a] - STATUS_OF[b]);
const TITLED = [...new Set([...Object.values(FAULT_STATUS), 428, 500])].toSorted((a, b) => a - b);
const CODES = (kind: Kind): string => (kind === 'bug' ? 'exception' : ISSUE_TYPE[kind]);

/** Text between backquotes is code. */
const Text = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, at) => (at % 2 === 0 ? part : <code>{part}</code>))}</>
);

const TOKEN_ROWS = Object.values(TOKEN_REFUSALS);

export const ErrorsPage = ({ site }: { site: Site }) => (
  <TextPage site={site} page="errors" heading="Errors">
    <p class="lead">
      Every answer over HTTP has <code>X-Request-Id</code>; an ERR with severity E has the same id in ERR-7. Give this
      id to the administrator of your key: the console finds the exact reason by it.
    </p>
    <ul>
      <li>
        The console has the id some seconds after the answer, and keeps it as long as the site keeps refusals (90 days
        by default).
      </li>
      <li>
        The newest {MAX_REQUEST_IDS} ids of each key, reason and quarter of an hour are kept. Report the id of your last
        attempt, and do not repeat a rejected request in a loop.
      </li>
      <li>
        A request is kept if its Client ID, access token or sender shows the API key. For any other request the operator
        finds the id in the gateway’s log.
      </li>
      <li>A message that the gateway stored is found by the id of each attempt that is kept, also an accepted one.</li>
    </ul>
    <ul class="contents">
      <li>
        <a href="#token">Token service</a>
      </li>
      <li>
        <a href="#fhir">FHIR</a>
      </li>
      <li>
        <a href={`${referencePath(site)}/mllp#errors`}>HL7: ACK and ERR</a>
      </li>
      <li>
        <a href="#administration">Administration</a>
      </li>
    </ul>
    <Section id="token" title="Token service">
      <p>
        JSON with <code>error</code> and <code>error_description</code> (RFC 6749 §5.2). Until your signature has
        verified, each rejection of the client is the same 401 <code>invalid_client</code> and{' '}
        <code>client authentication failed</code>; the administrator sees the exact reason.
      </p>
      <Table
        label="Refusals of the token service"
        rows={TOKEN_ROWS}
        columns={{
          Check: ({ label }) => label,
          Answer: ({ error, kind }) => (
            <>
              {FAULT_STATUS[kind]} <code>{error}</code>
            </>
          ),
          'Reason in the answer': ({ description }) => (description === 'reason' ? 'exact' : 'none'),
          'What to do': ({ hint }) => hint,
        }}
      />
    </Section>
    <Section id="fhir" title="FHIR">
      <p>
        An OperationOutcome with an issue for each fault: <code>code</code>, <code>diagnostics</code>, and where it is:{' '}
        <code>expression</code> is FHIRPath (<code>Patient.name[0].given[1]</code>), <code>location</code> is{' '}
        <code>http.</code> and the name of a parameter or header. An issue may have a more precise code than its status.
      </p>
      <Table
        label="Failures of FHIR"
        rows={KINDS}
        columns={{
          Status: (kind) => (
            <th scope="row" id={statusAnchor(STATUS_OF[kind])}>
              {STATUS_OF[kind]}
            </th>
          ),
          'issue.code': (kind) => <code>{CODES(kind)}</code>,
          Meaning: (kind) => <Text text={MEANING[kind].meaning} />,
          'What to do': (kind) => <Text text={MEANING[kind].next} />,
        }}
      />
      <h3 id="issues">More precise codes</h3>
      <Table
        label="Codes of issues"
        rows={Object.entries(FHIR_ISSUES)}
        columns={{
          'issue.code': ([code]) => (
            <th scope="row" id={issueAnchor(code)}>
              <code>{code}</code>
            </th>
          ),
          Meaning: ([, { label }]) => label,
          'What to do': ([, { hint }]) => hint,
        }}
      />
    </Section>
    <Section id="administration" title="Administration">
      <p>
        Problem details (RFC 9457): <code>type</code> is <code>about:blank</code>, so that <code>title</code> says what
        the status means; <code>errors</code> names each field (<code>field</code>, <code>pointer</code>) with a
        sentence.
      </p>
      <Table
        label="Problems of the console’s API"
        rows={TITLED}
        columns={{ Status: (status) => status, title: (status) => titleOf(status) }}
      />
    </Section>
  </TextPage>
);
