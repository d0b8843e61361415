/** The workbench: paste an assertion, a message or a resource, and see what the gateway would make of it; the verdict first. */
import type { PropsWithChildren } from 'hono/jsx';

import type { KeyRow } from '../keys/statements.ts';
import { Notice, Select } from '../web/ui.tsx';
import { type Bench, BENCHES } from './benches.ts';
import { SAMPLES } from './samples.ts';

interface BenchProps {
  readonly path: string;
  readonly bench: Bench;
  readonly benches: readonly Bench[];
  readonly pasted: string;
  /** Of the samples that one, where one was asked for. */
  readonly sample: string;
  /** Which keys the bench is about; undefined where it is about none. */
  readonly keys?: readonly KeyRow[] | undefined;
  readonly clientId: string;
}

const ASKED: Readonly<Record<Bench, { label: string; hint: string; button: string; does: string }>> = {
  assertion: {
    label: 'Client assertion',
    hint: 'The signed JWT, three parts with dots between.',
    button: 'Check',
    does: 'Makes every check of the token endpoint, now and with the keys that it knows. No token is issued, the assertion is not used up, and single use is the one check that is not made.',
  },
  message: {
    label: 'HL7 v2 message',
    hint: 'Segments each on a line of their own.',
    button: 'Send as a test',
    does: 'Does what the gateway would do if this key sent the message over HTTP now: the same settings, checks, mapping and ACK. Nothing is stored, no chart changes, nobody else gets an answer. A message that is really sent with T or D in MSH-11 is no test: where the key takes it, it goes into the chart like any other.',
  },
  resource: {
    label: 'FHIR resource',
    hint: 'R4 JSON of one of the seven types.',
    button: 'Validate',
    does: 'Checks the content as a create would. Nothing is stored, and nothing that is stored is looked at: whether a patient is known, POST [type]/$validate tells.',
  },
};

/** A form of its own, which asks for the page again: what was pasted gives way to the sample. */
const SampleForm = ({ path, bench, sample, keys, clientId }: BenchProps) => (
  <form class="filter" method="get" action={`${path}/${bench}`} aria-label="Samples">
    {bench === 'assertion' ? <KeyChoice label="For the key" {...{ keys, clientId }} /> : null}
    <Select
      name="sample"
      label="Sample"
      value={sample}
      options={SAMPLES[bench].map(({ name, title }) => ({ value: name, label: title }))}
    />
    <button class="secondary">Load</button>
  </form>
);

const KeyChoice = ({ label, keys = [], clientId }: { label: string } & Pick<BenchProps, 'keys' | 'clientId'>) => (
  <Select
    name="clientId"
    label={label}
    value={clientId}
    options={keys.map((key) => ({ value: key.client_id, label: `${key.name} (${key.protocols.join(', ')})` }))}
  />
);

const Permalink = ({ bench }: { bench: Bench }) => (
  <div id="permalink" class="permalink" hidden>
    <button type="button" class="secondary">
      Copy a link to this
    </button>
    <span id="permalink-said" role="status" class="quiet"></span>
    <details>
      <summary>What the link holds</summary>
      <p>
        {bench === 'assertion'
          ? 'The assertion without its signature, so that the link is no credential.'
          : 'The text as it stands above, with whatever it says of a patient: give it only to whom you would give the text.'}{' '}
        It is all behind the <code>#</code>, which browsers send to no server: neither the gateway nor its log ever sees
        it. Whoever opens the link while signed in finds the form filled in, and nothing is sent until they press the
        button. 16,000 characters at most.
      </p>
    </details>
  </div>
);

export const WorkbenchPage = (props: PropsWithChildren<BenchProps>) => {
  const { path, bench, benches, pasted, keys, clientId, children } = props;
  const { label, hint, button, does } = ASKED[bench];
  return (
    <>
      <nav class="tabs" aria-label="Workbench">
        {BENCHES.filter(({ name }) => benches.includes(name)).map(({ name, title }) => (
          <a href={`${path}/${name}`} aria-current={name === bench ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {children}
      <SampleForm {...props} />
      <form class="record" method="post" action={`${path}/${bench}`} data-bench={bench}>
        {bench === 'message' && keys !== undefined ? (
          <div class="field">
            <KeyChoice label="As if sent with" {...{ keys, clientId }} />
          </div>
        ) : null}
        <div class="field">
          <label for="pasted">{label}</label>
          <textarea
            id="pasted"
            name="pasted"
            rows={12}
            class="mono"
            spellcheck={false}
            aria-describedby="pasted-hint"
            required
          >
            {pasted}
          </textarea>
          <p class="hint" id="pasted-hint">
            {hint} {does}
          </p>
        </div>
        <p class="actions">
          <button>{button}</button>
        </p>
      </form>
      <Permalink bench={bench} />
    </>
  );
};

/** What came of it, in a sentence, before everything else. */
export const Verdict = ({ isGood, children }: PropsWithChildren<{ isGood: boolean }>) => (
  <>
    <h2 id="result" class="hidden">
      Result
    </h2>
    <Notice tone={isGood ? 'good' : 'bad'}>{children}</Notice>
  </>
);
