/** What is not done by one press of a button: it opens, says what will become of it, and holds the button that does it. */
import type { PropsWithChildren } from 'hono/jsx';

export const Confirm = ({ label, children }: PropsWithChildren<{ label: string }>) => (
  <details class="confirm">
    <summary>{label} …</summary>
    {children}
  </details>
);
