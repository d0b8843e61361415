/** What stands below the fields for public keys, and does something only with a script (assets/keys.js). */

/** Makes a key pair in the browser: ES384 and RS384 are what SMART App Launch 2.2 asks servers to take. */
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
      The private half is saved as a file here, and sent nowhere; the public half is put into the field above.
    </p>
    <p class="said" role="status"></p>
  </div>
);

/** Says what a JWKS URI holds, while it is typed. @param path of the operation that looks */
export const CheckUri = ({ path }: { path: string }) => <p class="check" role="status" data-check-uri={path}></p>;
