/**
 * The page that shows an OpenAPI document and tries its requests (swagger-ui-dist). The page for integrators has a form that gets
 * an access token with a private key. The key stays in the browser (reference-token.js).
 */
import { ASSERTION_ALGORITHM_NAMES } from '../../../shared/oauth/algorithms.ts';
import { AUDIENCES } from '../../../shared/oauth/audience.ts';
import type { Config } from '../../config.ts';
import { originsOf } from '../../http/reference-address.ts';
import { ASSERTION_TYPE } from '../../oauth/assertion/credentials.ts';
import { Frame, referencePath, type Site } from './frame.tsx';

const SCRIPTS = ['swagger-ui.js', 'reference.js'];
const STYLES = ['swagger-ui.css', 'reference.css'];

const TokenForm = ({ base, errors }: { base: string; errors: string }) => (
  <details class="token" id="token" open data-endpoint={`${base}/oauth2/token`} data-assertion-type={ASSERTION_TYPE}>
    <summary>
      <h2>Get an access token</h2>
    </summary>
    <p>
      Your private key signs a client assertion in this browser and the assertion is sent to{' '}
      <code>{`${base}/oauth2/token`}</code>. The key is neither sent nor stored; it is deleted when you leave the page.
      Each request that you try below then has the token.
    </p>
    <form id="token-form" autocomplete="off">
      <div class="field">
        <label for="token-client">Client ID</label>
        <input id="token-client" class="mono" name="client" placeholder="svc-…" spellcheck={false} required />
      </div>
      <div class="field token-key">
        <label for="token-key">Private key</label>
        <textarea
          id="token-key"
          rows={3}
          spellcheck={false}
          autocomplete="off"
          placeholder="-----BEGIN PRIVATE KEY----- … or a private JWK"
          aria-describedby="token-key-hint"
        ></textarea>
        <label class="token-file">
          or its file <input id="token-file" type="file" accept=".pem,.key,.json,.jwk,.jwks,application/json" />
        </label>
        <p class="hint" id="token-key-hint">
          PEM (PKCS #8), JWK or JWKS: also the file that the console saved. On a live gateway you see and change live
          data.
        </p>
      </div>
      <div class="field">
        <label for="token-audience">For</label>
        <select id="token-audience" name="audience">
          {AUDIENCES.map((audience) => (
            <option value={audience}>{audience}</option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="token-scope">Scopes</label>
        <input
          id="token-scope"
          class="mono"
          name="scope"
          value="system/*.read"
          spellcheck={false}
          aria-describedby="token-scope-hint"
          required
        />
        <p class="hint" id="token-scope-hint">
          The token gets the scopes that the key allows; <code>system/*.*</code> requests all.
        </p>
      </div>
      <details class="token-more">
        <summary>kid and algorithm</summary>
        <div class="field">
          <label for="token-kid">kid</label>
          <input id="token-kid" class="mono" name="kid" spellcheck={false} placeholder="that of the JWK, else none" />
        </div>
        <div class="field">
          <label for="token-alg">Algorithm</label>
          <select id="token-alg" name="alg">
            <option value="">as the key says</option>
            {ASSERTION_ALGORITHM_NAMES.map((name) => (
              <option value={name}>{name}</option>
            ))}
          </select>
        </div>
      </details>
      <p class="actions token-actions">
        <button type="submit">Sign and get a token</button>
        <button type="button" id="token-forget" class="secondary">
          Forget key and token
        </button>
      </p>
    </form>
    <p id="token-said" role="status" data-errors={errors}></p>
  </details>
);

/** The reference of what integrators call. */
export const PartnerReference = ({ site }: { site: Site }) => {
  const base = site.config.INTEGRATION_OAUTH_PUBLIC_BASE_URL;
  const document = `${referencePath(site)}/openapi.json`;
  return (
    <Frame {...{ site }} page="api" styles={STYLES} scripts={[...SCRIPTS, 'reference-token.js']}>
      <main id="main">
        {base === undefined ? null : <TokenForm base={base} errors={`${referencePath(site)}/errors#token`} />}
        <TryOut document={document} opens={['Token service', 'FHIR Patient']} />
      </main>
    </Frame>
  );
};

/** The reference of the console's own API, for staff and their scripts. */
export const AdministrationReference = ({ site }: { site: Site }) => (
  <Frame {...{ site }} page="admin" styles={STYLES} scripts={SCRIPTS}>
    <main id="main">
      <TryOut document={`${referencePath(site)}/admin/openapi.json`} opens={['Administration: api keys']} />
    </main>
  </Frame>
);

const TryOut = ({ document, opens }: { document: string; opens: readonly string[] }) => (
  <div id="reference" data-document={document} data-opens={JSON.stringify(opens)}>
    <noscript>
      <p>
        To try requests this page needs JavaScript; the document itself is at <a href={document}>openapi.json</a>.
      </p>
    </noscript>
  </div>
);

/** Origins that a request tried on the integrators' page, or its token, may go to. */
export const calledOrigins = (config: Config): string[] =>
  originsOf([
    config.INTEGRATION_OAUTH_PUBLIC_BASE_URL,
    config.INTEGRATION_FHIR_PUBLIC_BASE_URL,
    config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL,
  ]);
