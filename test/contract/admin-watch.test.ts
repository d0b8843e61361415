/** The page of an integration team: refused and failed requests, with their reasons, clients and times. */
import { importJWK, SignJWT, generateKeyPair, type JWK } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { getToken } from '../stack/services/client.ts';
import { type ApiKey, createApiKey } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { msh } from '../stack/tools/hl7-text.ts';
import { zoneAtNoon } from '../stack/tools/midday.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Init extends Omit<RequestInit, 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
}

interface Sender {
  readonly surface: string;
  readonly application: string;
  readonly today: { readonly refused: number };
  readonly verdict: string | null;
}

interface Feeds {
  readonly health: { readonly isUsual: boolean; readonly sentence: string };
  readonly feeds: readonly {
    readonly clientId: string;
    readonly name: string;
    readonly refusals: number;
    readonly fault: { readonly surface: string; readonly code: string } | null;
    readonly senders: readonly Sender[];
  }[];
}

interface Item {
  readonly clientId: string;
  readonly surface: string;
  readonly status: number | null;
  readonly outcome: string;
  readonly code: string;
  readonly reason: string;
  readonly requests: number;
  readonly requestId: string;
}

describe.each(ONE_RUNTIME)('watching on %s', (runtime) => {
  let foreign: ApiKey;
  let access: string;

  const FEW = [
    'system/Patient.read',
    'system/Patient.write',
    'system/Observation.write',
    'system/DocumentReference.write',
  ];
  const at = useConsole(runtime, {
    site: { name: 'North', timeZone: zoneAtNoon() },
    otherSite: { name: 'South' },
    key: { name: 'LAB', protocols: ['fhir', 'hl7'], scopes: FEW },
    env: { JOB_TICK_SECONDS: '3600' },
  });
  beforeAll(async () => {
    foreign = await createApiKey(at.db.client, { site: at.otherSite, protocols: ['fhir', 'hl7'] });
    access = await getToken(at.gateway.oauthBaseUrl, at.key);
  });

  const fhir = (path: string, { headers = {}, ...init }: Init = {}, token = access): Promise<Response> =>
    fetch(`${at.gateway.fhirBaseUrl}/fhir/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json', ...headers },
    });
  const post = (resource: object): Promise<Response> =>
    fhir(String('resourceType' in resource && resource.resourceType), {
      method: 'POST',
      body: JSON.stringify(resource),
    });
  const api = async (query = ''): Promise<readonly Item[]> =>
    (await at.json<{ items: readonly Item[] }>(`/requests${query}`)).items;
  /** The reason that has this request as its last. */
  const noted = (response: Response): Promise<Item> => {
    const id = response.headers.get('x-request-id') ?? '';
    return until(`request ${id} to be noted`, async () => (await api(`?q=${id}`))[0]);
  };
  const signed = async (claims: object, isForged = false): Promise<string> => {
    const { keys }: { keys: readonly JWK[] } = JSON.parse(at.gateway.secrets.env.TOKEN_SIGNING_KEYS);
    const [jwk] = keys;
    const own = await importJWK(jwk ?? {}, 'ES256');
    const { privateKey } = await generateKeyPair('ES256');
    const now = Math.floor(Date.now() / 1000);
    const ours = {
      iss: at.gateway.oauthBaseUrl,
      sub: at.key.clientId,
      client_id: at.key.clientId,
      aud: 'svc-fhir',
      scope: '',
    };
    return new SignJWT({ ...ours, site: at.site, iat: now, exp: now + 60, jti: crypto.randomUUID(), ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: jwk?.kid ?? '' })
      .sign(isForged ? privateKey : own);
  };

  test('each refusal of FHIR is logged with its answer, code and place, without the content of the request', async () => {
    const created = await post({ resourceType: 'Patient', name: [{ family: 'Nosy' }] });
    const { id } = (await created.json()) as { id: string };
    const ifMatch = {
      method: 'PUT',
      headers: { 'if-match': 'W/"7"' },
      body: JSON.stringify({ resourceType: 'Patient', id }),
    };
    const cases: readonly [Response, number, string, string][] = [
      [
        await fhir('Patient?nosy4711=1'),
        400,
        'not-supported',
        'a parameter that R4 does not have here: it is not supported here',
      ],
      [await fhir('Patient?family:exact=Nosy'), 400, 'not-supported', 'the parameter family: it is not supported here'],
      [
        await fhir('Condition'),
        403,
        'insufficient_scope',
        'the access token lacks a scope: system/Condition.read is needed',
      ],
      [await fhir(`Patient/${crypto.randomUUID()}`), 404, 'not-found', 'the site has no resource with this id'],
      [await fhir(`Patient/${id}`, ifMatch), 412, 'precondition-failed', 'a precondition in the headers failed'],
      [
        await fhir('Patient', { method: 'POST', body: 'x', headers: { 'content-type': 'text/nosy' } }),
        415,
        'unsupported-media-type',
        'the Content-Type is not supported',
      ],
      [
        await post({
          resourceType: 'Observation',
          status: 'Nosy',
          nosy4711: 'Nora',
          subject: { reference: `Patient/${id}` },
        }),
        400,
        'code-invalid',
        expect.stringContaining('Observation.code: a required element is missing'),
      ],
      [
        await post({
          resourceType: 'Observation',
          status: 'final',
          code: { text: 'x' },
          subject: { reference: 'Patient/4711' },
        }),
        422,
        expect.any(String),
        expect.stringMatching(/^Observation\.subject/),
      ],
    ];
    for (const [response, status, code, reason] of cases) {
      expect(response.status, reason).toBe(status);
      const item = await noted(response);
      expect(item).toMatchObject({
        clientId: at.key.clientId,
        surface: 'fhir',
        status,
        outcome: 'refused',
        requests: 1,
      });
      expect([item.code, item.reason]).toEqual([code, reason]);
    }
    const { rows } = await at.db.client.query('select code, reason from refusal');
    expect(JSON.stringify(rows)).not.toMatch(/nosy|nora|4711/i);
  });

  test('a token signed by the gateway names its key; a token of another signer names no key', async () => {
    const expired = await fhir('Patient', {}, await signed({ exp: 1_000 }));
    expect([expired.status, (await noted(expired)).reason]).toEqual([
      401,
      'the access token has expired: request a new one',
    ]);
    const elsewhere = await fhir('Patient', {}, await signed({ aud: 'svc-hl7-http' }));
    expect([elsewhere.status, (await noted(elsewhere)).code]).toEqual([401, 'invalid_token']);
    const before = await at.db.client.query('select sum(requests)::int from refusal');
    const theirs = { sub: foreign.clientId, client_id: foreign.clientId, site: at.otherSite };
    for (const token of [await signed(theirs, true), 'x', await signed({}, true)]) {
      expect((await fhir('Patient', {}, token)).status).toBe(401);
      expect((await fhir('Patient', { method: 'HEAD' }, token)).status).toBe(401);
    }
    // The next request is logged after them.
    const last = await fhir(`Patient/${crypto.randomUUID()}`, { method: 'HEAD' });
    expect((await noted(last)).status).toBe(404);
    const after = await at.db.client.query('select sum(requests)::int from refusal');
    expect(Number(after.rows[0].sum) - Number(before.rows[0].sum)).toBe(1);
    expect((await at.db.client.query('select from refusal where site_id = $1', [at.otherSite])).rowCount).toBe(0);
  });

  test('a rejected message is logged with its ERR, and a repeated reason is counted', async () => {
    const token = await getToken(at.gateway.oauthBaseUrl, at.key, { audience: 'svc-hl7-http' });
    const send = (body: string, type = 'text/plain'): Promise<Response> =>
      fetch(`${at.gateway.hl7BaseUrl}/hl7/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body,
      });
    const unnamed = (control: string): string => `${msh('ADT^A04^ADT_A01', control)}\rPID|1||||Nosy^Nora||19800101`;
    const first = await send(unnamed('W-1'));
    expect(await noted(first)).toMatchObject({ surface: 'hl7', status: 422, code: '101', requests: 1 });
    for (let n = 2; n <= 4; n += 1) await send(unnamed(`W-${n}`));
    const item = await until('all four', async () =>
      (await api('?surface=hl7&code=101')).find(({ requests }) => requests === 4),
    );
    expect(item.reason).toMatch(/^PID-3/);
    expect(item.reason).not.toMatch(/Nosy|Nora|1980/);
    const wrong = await send(unnamed('W-5'), 'application/json');
    expect(await noted(wrong)).toMatchObject({ surface: 'hl7', status: 415 });
    const { items } = (await (
      await fetch(`${at.baseUrl}/admin/api/api-keys/${at.key.clientId}/refusals?surface=hl7`, {
        headers: { authorization: `Bearer ${at.token}` },
      })
    ).json()) as { items: readonly Item[] };
    expect(items.map(({ status, requests }) => [status, requests])).toEqual([
      [415, 1],
      [422, 4],
    ]);
  });

  test('feeds have the counts of today, the reason of a refusal, and a sentence about health, in one round trip', async () => {
    const before = at.db.endpoint.requests();
    const feeds = await until('the counts to be written', async () => {
      const answer = await fetch(`${at.baseUrl}/admin/api/feeds`, { headers: { authorization: `Bearer ${at.token}` } });
      expect(answer.status).toBe(200);
      const body: Feeds = await answer.json();
      // They are written every few seconds, and some may be before the others.
      const isAll = ({ surface, today }: Sender) => surface === 'hl7' && today.refused >= 4;
      return body.feeds.some(({ senders }) => senders.some(isAll)) ? body : undefined;
    });
    expect(before).toBeLessThan(at.db.endpoint.requests());
    const [lab, ...others] = feeds.feeds;
    expect([lab?.name, lab?.clientId, others.map(({ name }) => name)]).toEqual(['LAB', at.key.clientId, []]);
    const hl7 = lab?.senders.find(({ surface }) => surface === 'hl7');
    expect(hl7).toMatchObject({
      application: 'LAB',
      today: { accepted: 0, refused: 4, rejected: 0 },
      verdict: 'too-new',
    });
    expect(lab?.senders.find(({ surface }) => surface === 'fhir')?.verdict).toBeNull();
    expect(lab?.fault).toMatchObject({ surface: 'hl7', code: 'unsupported-media-type' });
    expect(feeds.health.isUsual).toBe(false);
    expect(feeds.health.sentence).toContain('4 messages of LAB were rejected');
    expect(JSON.stringify(feeds)).not.toMatch(/Nosy|Nora|South/);
    const asked = at.db.endpoint.requests();
    await fetch(`${at.baseUrl}/admin/api/feeds`, { headers: { authorization: `Bearer ${at.token}` } });
    expect(at.db.endpoint.requests() - asked).toBe(1);
    const mayNotSee = await at.oidc.signToken({ permissions: ['site.endpoints.read'] });
    const counts: Feeds = await (
      await fetch(`${at.baseUrl}/admin/api/feeds`, { headers: { authorization: `Bearer ${mayNotSee}` } })
    ).json();
    expect([counts.feeds[0]?.fault, Number(counts.feeds[0]?.refusals) > 0]).toEqual([null, true]);
  });
});
