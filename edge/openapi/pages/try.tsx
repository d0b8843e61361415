/**
 * The page for integrators with a link or an access token. It checks a message, and shows the rejected requests and the check list
 * of a key. The script (try.js) calls the surfaces; the secret stays in the browser.
 */
import type { calledByTrying } from '../../http/reference-address.ts';
import { referencePath, Frame, type Site } from './frame.tsx';

interface TryProps {
  readonly site: Site;
  readonly called: ReturnType<typeof calledByTrying>;
}

export const TryPage = ({ site, called: { check, refusals } }: TryProps) => (
  <Frame {...{ site }} page="try" styles={['reference.css']} scripts={['console.js', 'try.js']}>
    <main id="main" class="reference-text try">
      <h1>Check messages</h1>
      <p class="lead">
        With a link or an access token you check HL7 messages, and see your rejected requests and the check list for the
        go-live. A checked message is not stored.
      </p>
      <noscript>
        <p>
          This page needs JavaScript. The page <a href={`${referencePath(site)}/senders`}>HL7 senders</a> describes the
          requests.
        </p>
      </noscript>
      <form
        id="try-form"
        autocomplete="off"
        data-check={check}
        data-refusals={refusals}
        data-max-bytes={`${site.config.HL7_MAX_TEXT_BYTES}`}
      >
        <div class="field">
          <label for="try-secret">Secret of the link, or access token</label>
          {/* Browsers ignore `off` and offer to save a password, but they save no one-time code. */}
          <input
            id="try-secret"
            type="password"
            class="mono"
            autocomplete="one-time-code"
            spellcheck={false}
            aria-describedby="try-secret-hint"
          />
          <p class="hint" id="try-secret-hint">
            Ask the administrator for a link. The page stores its secret nowhere, and forgets it when you leave.
          </p>
        </div>
        {check === undefined ? null : (
          <div class="field">
            <label for="try-message">HL7 v2 message</label>
            <textarea
              id="try-message"
              rows={10}
              class="mono"
              spellcheck={false}
              autocomplete="off"
              aria-describedby="try-message-hint"
            ></textarea>
            <label class="token-file">
              or its file <input id="try-file" type="file" />
            </label>
            <p class="hint" id="try-message-hint">
              One segment a line. The page sends a pasted message in UTF-8, and the bytes of a file unchanged. For
              another character set, choose the file.
            </p>
          </div>
        )}
        <p class="actions">
          {check === undefined ? null : <button type="submit">Check the message</button>}
          {refusals === undefined ? null : (
            <button type="button" id="try-refusals" class="secondary">
              Show my refusals and check list
            </button>
          )}
        </p>
      </form>
      <p id="try-said" role="status"></p>
      <div id="try-result"></div>
    </main>
  </Frame>
);
