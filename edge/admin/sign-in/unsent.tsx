/**
 * A form that was sent after its session had ended. The page shows its values, to be sent again after signing in, but never a
 * pasted private key.
 */
import type { Context } from 'hono';

import type { Config } from '../../config.ts';
import type { GatewayEnv } from '../../http/surface.ts';
import { refuseCrossSite } from '../staff/cross-site.ts';
import type { Sessions } from '../staff/session.ts';
import { OF_SITE, sentForm } from '../web/form.ts';
import { linkTo } from '../web/layout.tsx';
import { isUnredacted } from '../../members/redact.ts';

export interface Unsent {
  readonly action: string;
  readonly form: URLSearchParams;
}

/**
 * Reads the form of a request whose session has ended. Returns undefined for a form above the limit, and for a form of another
 * origin, which must not get a button that sends it. Without a cookie that the gateway sealed the body is not read.
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
    const form = await sentForm(c, MAX_BYTES);
    // The page may already have read the form, with a higher limit.
    if (form.toString().length > MAX_BYTES) return undefined;
    return { action: `${linkTo(config, c.req.path)}${new URL(c.req.url).search}`, form };
  } catch {
    return undefined;
  }
}

/** Enough for typed text and a JWKS. A larger text was pasted and can be pasted again. */
const MAX_BYTES = 16 * 1024;

/** Longer values, such as a JWKS, are shown in monospace. */
const LONG = 60;

export const UnsentForm = ({ unsent: { action, form }, signInPath }: { unsent: Unsent; signInPath: string }) => {
  const typed = [...form].filter(([name, value]) => isUnredacted(name, value));
  const shown = typed.filter(([name, value]) => name !== OF_SITE && value.trim() !== '');
  return (
    <>
      <p>
        Nothing was saved. Open the sign-in in another tab and return to this one: the form still has what you typed.
        Then send the form.
      </p>
      {typed.length === form.size ? null : (
        <p>A private key was removed. It is compromised: do not paste it again, and make a new key pair.</p>
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
          <summary>Your input</summary>
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
