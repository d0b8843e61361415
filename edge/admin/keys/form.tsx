/** The form of an API key: every field of the record, its rule and its error beside it; scopes and the like as choices. */
import { AUDIENCES, PROTOCOLS } from '../../../shared/oauth/audience.ts';
import { RESOURCE_TYPES } from '../../../shared/resource-type.ts';
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from './schema.ts';
import { Choices, described, Errors, type FieldErrors, Text } from '../web/fields.tsx';
import type { KeyFields } from './fields.ts';

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
