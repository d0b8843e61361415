/** The tools below the fields for public keys, which need a script (assets/keys.js). */

/** Makes a key pair in the browser, with an algorithm that SMART App Launch 2.2 requires. */
export const MakeKey = () => (
  <div class="make-key" data-make-key hidden>
    <button type="button" class="secondary">
      Make a key pair in this browser
    </button>
    <label>
      <span class="hidden">Kind of key</span>
      <select>
        <option value="ES384">ES384, recommended</option>
        <option value="RS384">RS384, for older libraries</option>
      </select>
    </label>
    <p class="hint">
      The browser saves the private key as a file and sends it nowhere. It puts the public key into the field above.
    </p>
    <p class="said" role="status"></p>
  </div>
);

/** Shows the keys of a JWKS URI while it is typed. @param path the path of the operation that fetches it */
export const CheckUri = ({ path }: { path: string }) => <p class="check" role="status" data-check-uri={path}></p>;
