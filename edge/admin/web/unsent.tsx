/**
 * A form that was sent when its session had ended: what was typed is given back, to be sent again after signing in. A
 * private key that was pasted by mistake is not: it would stand in a page once more.
 */
import type { Context } from 'hono';

import type { Config } from '../../config.ts';
import type { GatewayEnv } from '../../http/surface.ts';
import { refuseCrossSite } from '../staff/cross-site.ts';
import type { Sessions } from '../staff/session.ts';
import { readForm } from './form.ts';
import { linkTo } from './layout.tsx';
import { isShownAgain } from '../keys/shown-again.ts';

export interface Unsent {
  /** Where it was sent to. */
  readonly action: string;
  readonly form: URLSearchParams;
}

/**
 * The form of a request whose session has ended. Undefined for a form of another site's page, which must not be shown with a
 * button to send it; for a form above the limit; and without a session cookie that the gateway sealed: before that is known
 * nothing is read.
 */
export async function unsentOf(
  c: Context<GatewayEnv>,
  config: Config,
  sessions: Pick<Sessions, 'isSealed'>,
): Promise<Unsent | undefined> {
  if (c.req.method !== 'POST' || config.ADMIN_PUBLIC_BASE_URL === undefined) return undefined;
  if (!(await sessions.isSealed(c))) return undefined;
  try {
    refuseCrossSite(c.req.raw, new URL(config.ADMIN_PUBLIC_BASE_URL).origin);
    const form = await readForm(c, MAX_BYTES);
    // The page's own limit may be higher, and the form may have been read by it.
    if (form.toString().length > MAX_BYTES) return undefined;
    return { action: `${linkTo(config, c.req.path)}${new URL(c.req.url).search}`, form };
  } catch {
    return undefined;
  }
}

/** As much as people type, with a JWKS among it. A larger value was pasted, and can be pasted again. */
const MAX_BYTES = 16 * 1024;

/** Longer values are texts to read line by line: a message, a JWKS. */
const LONG = 60;

export const UnsentForm = ({ unsent: { action, form }, signInPath }: { unsent: Unsent; signInPath: string }) => {
  const typed = [...form].filter(([name, value]) => isShownAgain(name, value));
  const shown = typed.filter(([, value]) => value.trim() !== '');
  return (
    <>
      <p>
        Nothing was saved. Sign in in another tab and come back to this one: what you typed is still in the form here,
        and can be sent again.
      </p>
      {typed.length === form.size ? null : (
        <p>Only what holds a private key was left out: do not paste it again, and make another key pair.</p>
      )}
      <form class="actions" method="post" action={action}>
        {typed.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <a class="button" href={signInPath} target="_blank">
          Sign in again
        </a>
        <button class="secondary">Send it again</button>
      </form>
      {shown.length === 0 ? null : (
        <details>
          <summary>What you typed</summary>
          <dl class="facts">
            {shown.map(([name, value]) => (
              <div>
                <dt>{name}</dt>
                <dd class={value.length > LONG ? 'lines mono' : 'lines'}>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
};
