/** A browser without a window: it keeps cookies for each host and follows redirects one by one, so that tests can look. */

export interface HttpBrowser {
  /** One request with the cookies of its host; redirects are not followed. */
  ask(url: string, init?: RequestInit): Promise<Response>;
  /** Follows redirects to the end. */
  go(url: string, init?: RequestInit): Promise<Response>;
  /** `name=value` of a host's cookies; to be changed by tests. */
  readonly cookies: Map<string, Map<string, string>>;
}

const MAX_REDIRECTS = 10;

export function createHttpBrowser(): HttpBrowser {
  const cookies = new Map<string, Map<string, string>>();

  const ask = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { host } = new URL(url);
    const jar = cookies.get(host) ?? new Map<string, string>();
    cookies.set(host, jar);
    const headers = new Headers(init.headers);
    headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie) || /expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };

  return {
    cookies,
    ask,
    async go(url, init) {
      let response = await ask(url, init);
      let at = url;
      for (let hops = 0; hops < MAX_REDIRECTS; hops += 1) {
        const location = response.headers.get('location');
        if (location === null) return response;
        at = new URL(location, at).href;
        response = await ask(at);
      }
      throw new Error(`more than ${MAX_REDIRECTS} redirects`);
    },
  };
}
