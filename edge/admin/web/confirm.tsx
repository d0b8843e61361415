/** A step that needs a confirmation: it opens, says what will happen, and holds the button. */
import type { PropsWithChildren } from 'hono/jsx';

export const Confirm = ({ label, children }: PropsWithChildren<{ label: string }>) => (
  <details class="confirm">
    <summary>{label} …</summary>
    {children}
  </details>
);
