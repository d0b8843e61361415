/** The page of the workbench: paste an assertion, a message or a resource, and see its checks. */
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
  /** The name of the chosen sample; '' for none. */
  readonly sample: string;
  /** The keys to choose from; undefined for a bench without keys. */
  readonly keys?: readonly KeyRow[] | undefined;
  readonly clientId: string;
  readonly rules: 'live' | 'draft';
}

const RULES = [
  { value: 'live', label: 'live' },
  { value: 'draft', label: 'the draft' },
];

const FORMS: Readonly<Record<Bench, { label: string; hint: string; button: string; does: string }>> = {
  assertion: {
    label: 'Client assertion',
    hint: 'The signed JWT, three parts with dots between.',
    button: 'Check',
    does: 'Runs the checks of the token endpoint now. No token is issued and the assertion can still be used, because single use is not checked.',
  },
  message: {
    label: 'HL7 v2 message',
    hint: 'One segment a line.',
    button: 'Send as a test',
    does: 'Previews the message as if this key sent it over HTTP now, with the same settings, checks, mapping and ACK. Nothing is stored, and no patient record changes. A message that a sender sends with T or D in MSH-11 is not a test: if the key accepts it, it changes patient records.',
  },
  resource: {
    label: 'FHIR resource',
    hint: 'R4 JSON of one of the seven types.',
    button: 'Validate',
    does: 'Checks the content as a create would. Nothing is stored, and references are not looked up. To check references, use POST [type]/$validate.',
  },
};

/** A separate form, which loads the page with the sample. */
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
    options={keys.map((key) => ({
      value: key.client_id,
      label: `${key.name} (${[...key.protocols, ...(key.status === 'disabled' ? ['disabled'] : [])].join(', ')})`,
    }))}
  />
);

const Permalink = ({ bench }: { bench: Bench }) => (
  <div id="permalink" class="permalink" hidden>
    <button type="button" class="secondary">
      Copy a link
    </button>
    <span id="permalink-said" role="status" class="quiet"></span>
    <details>
      <summary>Content of the link</summary>
      <p>
        {bench === 'assertion'
          ? 'The link has the assertion without its signature, so it is not a credential.'
          : 'The link has the text above, with its patient data: share it only with staff who may see the text.'}{' '}
        The text follows the <code>#</code>, which browsers send to no server, so the gateway never sees it. The link
        fills in the form and sends nothing. It has 16,000 characters at most.
      </p>
    </details>
  </div>
);

export const WorkbenchPage = (props: PropsWithChildren<BenchProps>) => {
  const { path, bench, benches, pasted, keys, clientId, rules, children } = props;
  const { label, hint, button, does } = FORMS[bench];
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
          <div class="filter">
            <KeyChoice label="As if sent with" {...{ keys, clientId }} />
            <Select name="rules" label="Rules of the key" value={rules} options={RULES} />
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

/** The result in a sentence. */
export const Verdict = ({ isGood, children }: PropsWithChildren<{ isGood: boolean }>) => (
  <>
    <h2 id="result" class="hidden">
      Result
    </h2>
    <Notice tone={isGood ? 'good' : 'bad'}>{children}</Notice>
  </>
);
