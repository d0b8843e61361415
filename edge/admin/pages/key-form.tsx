/** The form of an API key: every field of the record, its rule and its error beside it; scopes and the like as choices. */
import type { Child } from 'hono/jsx';

import { AUDIENCES, PROTOCOLS } from '../../../shared/oauth/audience.ts';
import { RESOURCE_TYPES } from '../../../shared/oauth/scope.ts';
import type { KeyRow } from '../../store/admin-key.ts';
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from '../key-schema.ts';

/** What stands in the fields: texts, as a browser sends them. */
export interface KeyFields {
  readonly name: string;
  readonly jwksUri: string;
  readonly jwks: string;
  readonly tokenTtlSeconds: string;
  readonly allowedScopes: readonly string[];
  readonly allowedAudiences: readonly string[];
  readonly protocols: readonly string[];
  readonly allowedIps: string;
  readonly hl7SenderApplication: string;
  readonly hl7SenderFacility: string;
}

export const EMPTY_KEY: KeyFields = {
  name: '',
  jwksUri: '',
  jwks: '',
  tokenTtlSeconds: '300',
  allowedScopes: [],
  allowedAudiences: [],
  protocols: ['fhir'],
  allowedIps: '',
  hl7SenderApplication: '',
  hl7SenderFacility: '',
};

/** An inline JWKS as people can read it. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export function fieldsOfKey(key: KeyRow): KeyFields {
  return {
    name: key.name,
    jwksUri: key.jwks_uri ?? '',
    jwks: key.jwks === null ? '' : prettyJson(key.jwks),
    tokenTtlSeconds: String(key.token_ttl_seconds),
    allowedScopes: key.allowed_scopes,
    allowedAudiences: key.allowed_audiences,
    protocols: key.protocols,
    allowedIps: key.allowed_ips.join(', '),
    hl7SenderApplication: key.hl7_sender_application ?? '',
    hl7SenderFacility: key.hl7_sender_facility ?? '',
  };
}

export function fieldsOfForm(form: URLSearchParams): KeyFields {
  const text = (name: string) => form.get(name) ?? '';
  return {
    name: text('name'),
    jwksUri: text('jwksUri'),
    jwks: text('jwks'),
    tokenTtlSeconds: text('tokenTtlSeconds'),
    allowedScopes: form.getAll('allowedScopes'),
    allowedAudiences: form.getAll('allowedAudiences'),
    protocols: form.getAll('protocols'),
    allowedIps: text('allowedIps'),
    hl7SenderApplication: text('hl7SenderApplication'),
    hl7SenderFacility: text('hl7SenderFacility'),
  };
}

/** What the fields say, as the JSON API takes it: the rules are the same. */
export function toInput(fields: KeyFields): Record<string, unknown> {
  const ttl = fields.tokenTtlSeconds.trim();
  return {
    ...fields,
    jwksUri: fields.jwksUri.trim() === '' ? null : fields.jwksUri,
    jwks: fields.jwks.trim() === '' ? null : fields.jwks,
    tokenTtlSeconds: ttl === '' ? undefined : Number(ttl),
  };
}

export type FieldErrors = ReadonlyMap<string, readonly string[]>;

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint: Child;
  readonly errors: FieldErrors;
}

const described = (name: string, errors: FieldErrors) =>
  errors.has(name) ? `${name}-error ${name}-hint` : `${name}-hint`;

const Errors = ({ name, errors }: { name: string; errors: FieldErrors }) => {
  const messages = errors.get(name);
  if (messages === undefined) return null;
  return (
    <ul class="errors" id={`${name}-error`}>
      {messages.map((message) => (
        <li>{message}</li>
      ))}
    </ul>
  );
};

const Text = (
  props: FieldProps & { value: string; type?: string; mono?: boolean; attributes?: Record<string, string> },
) => {
  const { name, label, hint, errors, value, type = 'text', mono = false, attributes = {} } = props;
  return (
    <div class={errors.has(name) ? 'field wrong' : 'field'}>
      <label for={name}>{label}</label>
      <input
        {...{ id: name, name, type, value, ...attributes }}
        class={mono ? 'mono' : ''}
        aria-describedby={described(name, errors)}
        aria-invalid={errors.has(name) ? 'true' : undefined}
      />
      <Errors {...{ name, errors }} />
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    </div>
  );
};

const Choice = ({
  name,
  value,
  chosen,
  label,
}: {
  name: string;
  value: string;
  chosen: readonly string[];
  label: string;
}) => (
  <label class="choice">
    <input type="checkbox" name={name} value={value} checked={chosen.includes(value)} />
    <span>{label}</span>
  </label>
);

const Choices = (props: FieldProps & { values: readonly string[]; chosen: readonly string[] }) => {
  const { name, label, hint, errors, values, chosen } = props;
  return (
    <fieldset class={errors.has(name) ? 'field wrong' : 'field'} aria-describedby={described(name, errors)}>
      <legend>{label}</legend>
      <div class="choices">
        {values.map((value) => (
          <Choice {...{ name, value, chosen }} label={value} />
        ))}
      </div>
      <Errors {...{ name, errors }} />
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    </fieldset>
  );
};

const Scopes = ({ chosen, errors }: { chosen: readonly string[]; errors: FieldErrors }) => (
  <fieldset
    class={errors.has('allowedScopes') ? 'field wrong' : 'field'}
    aria-describedby={described('allowedScopes', errors)}
  >
    <legend>Allowed scopes</legend>
    <div class="scopes">
      {RESOURCE_TYPES.map((type) => (
        <div class="scope">
          <span aria-hidden="true">{type}</span>
          {['read', 'write'].map((access) => (
            <label class="choice">
              <input
                type="checkbox"
                name="allowedScopes"
                value={`system/${type}.${access}`}
                checked={chosen.includes(`system/${type}.${access}`)}
              />
              <span>
                <span class="hidden">system/{type}.</span>
                {access}
              </span>
            </label>
          ))}
        </div>
      ))}
    </div>
    <Errors name="allowedScopes" errors={errors} />
    <p class="hint" id="allowedScopes-hint">
      Only these can appear on a token; without any, no token is issued. HL7 over HTTP needs write on Patient,
      Observation and DocumentReference.
    </p>
  </fieldset>
);

interface KeyFormProps {
  readonly action: string;
  readonly cancel: string;
  readonly fields: KeyFields;
  readonly errors: FieldErrors;
  readonly button: string;
  /** The version that is edited; undefined to create. */
  readonly version?: number | undefined;
}

export const KeyForm = ({ action, cancel, fields, errors, button, version }: KeyFormProps) => (
  <form class="record" method="post" action={action} novalidate>
    {version === undefined ? null : <input type="hidden" name="version" value={String(version)} />}
    <Text
      name="name"
      label="Name"
      hint="A label for people; it is shown in this console only."
      value={fields.name}
      errors={errors}
      attributes={{ required: '', autocomplete: 'off' }}
    />
    <section aria-labelledby="keys-title">
      <h2 id="keys-title">Public keys</h2>
      <p class="quiet">Either the address of the client's JWKS, or the JWKS itself. Never a private key.</p>
      <Text
        name="jwksUri"
        label="JWKS URI"
        hint="https, at a public host of the client; best when keys are rotated."
        value={fields.jwksUri}
        errors={errors}
        type="url"
        mono
        attributes={{ autocomplete: 'off' }}
      />
      <div class={errors.has('jwks') ? 'field wrong' : 'field'}>
        <label for="jwks">Inline JWKS</label>
        <textarea
          id="jwks"
          name="jwks"
          rows={8}
          class="mono"
          aria-describedby={described('jwks', errors)}
          aria-invalid={errors.has('jwks') ? 'true' : undefined}
        >
          {fields.jwks}
        </textarea>
        <Errors name="jwks" errors={errors} />
        <p class="hint" id="jwks-hint">
          {'The JSON document with its "keys" array: RSA from 2048 bits, EC P-256 or P-384, or Ed25519.'}
        </p>
      </div>
    </section>
    <section aria-labelledby="grants-title">
      <h2 id="grants-title">What it may do</h2>
      <Choices
        name="protocols"
        label="Protocols"
        hint="FHIR API, HL7 over HTTP, HL7 over MLLP."
        values={PROTOCOLS}
        chosen={fields.protocols}
        errors={errors}
      />
      <Scopes chosen={fields.allowedScopes} errors={errors} />
      <Choices
        name="allowedAudiences"
        label="Allowed audiences"
        hint="What a token may be issued for. The first is used when a request names none; none chosen: whatever the protocols allow."
        values={AUDIENCES}
        chosen={fields.allowedAudiences}
        errors={errors}
      />
      <Text
        name="tokenTtlSeconds"
        label="Token TTL (seconds)"
        hint={`How long an access token lives: ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}.`}
        value={fields.tokenTtlSeconds}
        errors={errors}
        type="number"
        attributes={{ min: String(MIN_TTL_SECONDS), max: String(MAX_TTL_SECONDS), required: '' }}
      />
    </section>
    <section aria-labelledby="mllp-title">
      <h2 id="mllp-title">HL7 over MLLP only</h2>
      <Text
        name="allowedIps"
        label="Allowed IPs"
        hint="Addresses or CIDR ranges with commas between, or * for any; needed for hl7-mllp."
        value={fields.allowedIps}
        errors={errors}
        mono
        attributes={{ autocomplete: 'off' }}
      />
      <Text
        name="hl7SenderApplication"
        label="HL7 sender application"
        hint="If set, MSH-3 must be exactly this."
        value={fields.hl7SenderApplication}
        errors={errors}
        attributes={{ autocomplete: 'off' }}
      />
      <Text
        name="hl7SenderFacility"
        label="HL7 sender facility"
        hint="If set, MSH-4 must be exactly this."
        value={fields.hl7SenderFacility}
        errors={errors}
        attributes={{ autocomplete: 'off' }}
      />
    </section>
    <p class="actions">
      <button>{button}</button>
      <a href={cancel}>Cancel</a>
    </p>
  </form>
);
