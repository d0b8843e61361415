/** Subscriptions with FHIR_SUBSCRIPTIONS=on (edge/docs/behaviour.md, FHIR, Subscriptions): over real sockets, on each runtime. */
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { MedplumClient, OperationOutcomeError } from '@medplum/core';
import type { Bundle, ParametersParameter } from '@medplum/fhirtypes';
import { beforeEach, expect, test } from 'vitest';

import { FORBIDDEN_HOSTS, FORBIDDEN_URLS } from '../inputs/foreign-urls.ts';
import { getToken } from '../stack/services/client.ts';
import { type ApiKey, createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { BAD_ANSWERS, REDIRECT_TARGET } from '../stack/tools/bad-answers.ts';
import { isFull } from '../stack/tools/size.ts';
import { useKeyHost } from '../stack/tools/use-key-host.ts';
import * as hapi from './clients/hapi-calls.ts';
import { expectOutcomes } from './clients/outcomes.ts';
import { type Body, expectOutcome, observation, patient, startSubject } from './fhir/subject.ts';
import { eventsIn, type NotifiedEvent } from './fhir/notifications.ts';
import { onRuntimes, testOfOne } from './on-runtimes.ts';

const host = await useKeyHost();
const withoutHapi = await hapi.isHapiMissing();
const BACKPORT = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Body;
}

interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The statuses of the next answers; then 200. */
  readonly answers: (number | Promise<number>)[];
}

let paths = 0;
function newReceiver(): Receiver {
  const received: Received[] = [];
  const answers: (number | Promise<number>)[] = [];
  const url = host.serve(`/hook-${(paths += 1)}`, (response, request) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      void Promise.resolve(answers.shift() ?? 200).then((status) => {
        if (status < 300) received.push({ headers: request.headers, text, body: JSON.parse(text) as Body });
        response.writeHead(status).end();
      });
    });
  });
  return { url, received, answers };
}

/** A parameter of the status in a notification. */
const parameter = (bundle: Body, name: string): Body | undefined =>
  bundle['entry'][0].resource.parameter.find((one: Body) => one['name'] === name);
const typeOf = ({ body }: Received): string => String(parameter(body, 'type')?.['valueCode']);

const eventsOf = ({ received }: Receiver): NotifiedEvent[] => received.flatMap(({ body }) => eventsIn(body));
const focusesOf = (receiver: Receiver): string[] => eventsOf(receiver).map(({ focus }) => focus);

onRuntimes(
  (runtime) => startSubject(runtime, { FHIR_SUBSCRIPTIONS: 'on', JWKS_TRUSTED_HOSTS: '127.0.0.1' }, host.caCertificate),
  (subject, runtime) => {
    const ofOne = testOfOne(runtime);
    let site: string;
    let key: ApiKey;
    let token: string;

    const tokenOf = (of: ApiKey) => getToken(subject().gateway.oauthBaseUrl, of, { audience: 'svc-fhir' });
    const hosts = [`127.0.0.1:${host.port}`];
    beforeEach(async () => {
      site = await createSite(subject().client);
      key = await createApiKey(subject().client, { site, subscriptionHosts: hosts });
      token = await tokenOf(key);
    });
    const call = (method: string, path: string, body?: Body, by = token) =>
      subject().call(method, path, { token: by, ...(body === undefined ? {} : { body }) });
    const create = (resource: Body) => subject().create(resource, token);
    const put = async (resource: Body): Promise<void> => {
      const reply = await call('PUT', `/${resource['resourceType']}/${resource['id']}`, resource);
      expect(reply.status, reply.text).toBe(200);
    };

    const subscription = (
      type: string,
      endpoint: string,
      more: { filter?: string; content?: string; channel?: Body } & Body = {},
    ) => {
      const { filter, content, channel, ...rest } = more;
      return {
        resourceType: 'Subscription',
        status: 'requested',
        reason: 'test',
        criteria: `${subject().root}/SubscriptionTopic/${type}-changed`,
        ...(filter === undefined
          ? {}
          : { _criteria: { extension: [{ url: `${BACKPORT}/backport-filter-criteria`, valueString: filter }] } }),
        channel: {
          type: 'rest-hook',
          endpoint,
          payload: 'application/fhir+json',
          ...(content === undefined
            ? {}
            : { _payload: { extension: [{ url: `${BACKPORT}/backport-payload-content`, valueCode: content }] } }),
          ...channel,
        },
        ...rest,
      };
    };
    /** @returns its id and its secret, once its endpoint has accepted the handshake */
    const subscribe = async (type: string, receiver: Receiver, more: Body = {}) => {
      const reply = await call('POST', '/Subscription', subscription(type, receiver.url, more));
      expect(reply.status, reply.text).toBe(201);
      const id = String(reply.body['id']);
      await until('the handshake is accepted', async () => (await statusOf(id)) === 'active');
      return { id, secret: String(reply.body['extension'].at(-1).valueString) };
    };
    const statusOf = async (id: string) => (await call('GET', `/Subscription/${id}`)).body['status'];
    const hasEvents = (receiver: Receiver, count: number) =>
      until(`${count} events`, async () => eventsOf(receiver).length >= count);
    const eventsAsked = async (id: string, query = ''): Promise<Body> => {
      const reply = await call('GET', `/Subscription/${id}/$events${query}`);
      expect(reply.status, reply.text).toBe(200);
      return reply.body;
    };

    const erase = async (patientId: string): Promise<void> => {
      const { client } = subject();
      await client.query('begin');
      await client.query(`select set_config('gateway.site', $1, true)`, [site]);
      await client.query('select * from patient_erase($1, $2, true)', [site, patientId]);
      await client.query('select audit_add($1, $2)', [site, { actorKind: 'operator', actor: 'root', requestId: 'e' }]);
      await client.query('commit');
    };

    test('a write is posted within seconds: signed, by id, with the number of its event', async () => {
      const receiver = newReceiver();
      const { id, secret } = await subscribe('Patient', receiver);
      const patientId = await create(patient('1'));
      await create(observation(patientId));
      await hasEvents(receiver, 1);
      const [handshake, notified] = receiver.received;
      expect(receiver.received.map(typeOf)).toEqual(['handshake', 'event-notification']);
      expect(handshake?.body).toMatchObject({ resourceType: 'Bundle', type: 'history' });
      expect(eventsOf(receiver)).toEqual([{ event: 1, focus: `Patient/${patientId}/_history/1` }]);
      const { headers, text, body } = notified ?? { headers: {}, text: '', body: {} };
      expect(headers['content-type']).toBe('application/fhir+json');
      const known = Buffer.from(secret.replace('whsec_', ''), 'base64');
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`;
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', known).update(signed).digest('base64')}`);
      expect(body['entry'].slice(1)).toEqual([
        {
          fullUrl: `${subject().root}/Patient/${patientId}`,
          request: { method: 'POST', url: 'Patient' },
          response: { status: '201', etag: 'W/"1"', lastModified: expect.any(String) },
        },
      ]);
      expect(parameter(body, 'subscription')).toMatchObject({
        valueReference: { reference: `${subject().root}/Subscription/${id}` },
      });
      // The audit names the client, the host and the patient.
      const { rows } = await subject().client.query(
        `select client_id, address, types, ids, patients from audit where site_id = $1 and action = 'notified'`,
        [site],
      );
      const sent = { client_id: key.clientId, address: `127.0.0.1:${host.port}` };
      expect(rows).toEqual([{ ...sent, types: ['Patient'], ids: [patientId], patients: [patientId] }]);
      const status = await call('GET', `/Subscription/${id}/$status`);
      expect(parameter(status.body, 'events-since-subscription-start')).toMatchObject({ valueString: '1' });
      expect(parameter(status.body, 'type')).toMatchObject({ valueCode: 'query-status' });
    });

    test('a resource that enters, changes in and leaves a filter is an event each time, with its content if asked', async () => {
      const receiver = newReceiver();
      const patientId = await create(patient('1'));
      const other = await create(patient('2'));
      await subscribe('Observation', receiver, {
        filter: `Observation?patient=${patientId}&code=8867-4`,
        content: 'full-resource',
      });
      await create(observation(other));
      const id = await create(observation(patientId, { code: { coding: [{ code: 'other' }] } }));
      await put({ ...observation(patientId, { valueQuantity: { value: 1.5 } }), id });
      await put({ ...observation(other), id });
      await put({ ...observation(other, { status: 'amended' }), id });
      const last = await create(observation(patientId));
      await hasEvents(receiver, 3);
      expect(focusesOf(receiver)).toEqual([
        `Observation/${id}/_history/2`,
        `Observation/${id}/_history/3`,
        `Observation/${last}/_history/1`,
      ]);
      expect(eventsOf(receiver).map(({ event }) => event)).toEqual([1, 2, 3]);
      const entries = receiver.received.flatMap(({ body }) => body['entry'].slice(1) as Body[]);
      expect(entries[0]).toMatchObject({ resource: { id, meta: { versionId: '2' }, status: 'final' } });
      expect(entries[1]).toMatchObject({ resource: { id, meta: { versionId: '3' } }, request: { method: 'PUT' } });
    });

    test('a rejected notification is posted again in order, and no other receiver waits for it', async () => {
      const [slow, quick] = [newReceiver(), newReceiver()];
      const { id } = await subscribe('Patient', slow);
      await subscribe('Patient', quick);
      const held = Promise.withResolvers<number>();
      slow.answers.push(held.promise);
      const attempts = async (): Promise<number> => {
        const { rows } = await subject().client.query('select attempts from subscription where subscription_id = $1', [
          id,
        ]);
        return rows[0].attempts;
      };
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        ids.push(await create(patient(String(n))));
        await hasEvents(quick, n + 1);
        if (n === 0) expect(await attempts()).toBe(0);
      }
      held.resolve(500);
      await until('the failure is noted', async () => (await attempts()) > 0);
      await subject().client.query('update subscription set next_at = now() where subscription_id = $1', [id]);
      ids.push(await create(patient('last')));
      await hasEvents(slow, 6);
      await hasEvents(quick, 6);
      expect([...new Set(focusesOf(slow))]).toEqual(ids.map((one) => `Patient/${one}/_history/1`));
      expect(focusesOf(quick)).toEqual(ids.map((one) => `Patient/${one}/_history/1`));
    });

    ofOne('many subscriptions due at once are posted some at a time, one after the other', async () => {
      const [SUBSCRIPTIONS, AT_ONCE] = [20, 6];
      let [underWay, most] = [0, 0];
      const receivers = Array.from({ length: SUBSCRIPTIONS }, () => {
        const got: NotifiedEvent[] = [];
        const url = host.serve(`/many-${(paths += 1)}`, (response, request) => {
          let text = '';
          most = Math.max(most, (underWay += 1));
          request.on('data', (chunk) => (text += String(chunk)));
          request.on('end', () => {
            setTimeout(() => {
              underWay -= 1;
              got.push(...eventsIn(JSON.parse(text)));
              response.writeHead(200).end();
            }, 50);
          });
        });
        return { url, got };
      });
      for (const { url } of receivers)
        expect((await call('POST', '/Subscription', subscription('Patient', url))).status).toBe(201);
      for (let n = 1; n <= 2; n += 1) {
        await create(patient(String(n)));
        await until('each has it', async () => receivers.every(({ got }) => got.length >= n));
      }
      expect(most).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(AT_ONCE);
    });

    test('a notification is never posted to a forbidden address, and a host that misbehaves delays no other', async () => {
      const { client } = subject();
      // As if an older release had accepted them.
      await client.query(
        `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, matched)
           select $1, gen_random_uuid(), $2, 'Patient', '', 'id-only', e, $3, 'forbidden', 100, 0 from unnest($4::text[]) e`,
        [site, key.clientId, hosts[0], FORBIDDEN_URLS],
      );
      const target = newReceiver();
      host.serve(REDIRECT_TARGET, (response) => response.writeHead(200).end());
      const misbehaving = new Map<string, string>();
      for (const [name, { behaviour, post }] of BAD_ANSWERS) {
        const url = host.serve(`/bad-${(paths += 1)}`, behaviour);
        misbehaving.set(name, post);
        const reply = await call('POST', '/Subscription', subscription('Patient', url, { reason: name }));
        expect(reply.status, reply.text).toBe(201);
      }
      await subscribe('Patient', target);
      await create(patient('1'));
      await hasEvents(target, 1);
      const answers = await until('each has an answer', async () => {
        const sql = `select reason, endpoint, last_answer, status from subscription where site_id = $1 and reason <> 'test'`;
        const { rows } = await client.query<Record<'reason' | 'endpoint' | 'last_answer' | 'status', string>>(sql, [
          site,
        ]);
        return rows.every(({ last_answer: answer }) => answer !== null) && rows;
      });
      expect(answers).toHaveLength(FORBIDDEN_URLS.length + BAD_ANSWERS.length);
      for (const { reason, endpoint, last_answer: answer, status } of answers) {
        const expected = misbehaving.get(reason) ?? 'refused';
        expect([endpoint, reason, answer, status]).toEqual([
          endpoint,
          reason,
          expected,
          expected === '200' ? 'active' : 'requested',
        ]);
      }
      expect(host.fetches(REDIRECT_TARGET)).toBe(0);
    });

    ofOne('1,000 subscriptions in the site add no round trip to a write by FHIR, an ADT and an ORU', async () => {
      const { client, gateway } = subject();
      const sender = await createApiKey(client, { site, protocols: ['hl7'] });
      const hl7 = await getToken(gateway.oauthBaseUrl, sender, { audience: 'svc-hl7-http' });
      let sent = 0;
      const trips = async (name: string, write: () => Promise<Response>) => {
        const answer = await write();
        expect(answer.ok, `${name} ${await answer.text()}`).toBe(true);
        const requestId = answer.headers.get('x-request-id') ?? '';
        const line = await until('the log has the request', () =>
          gateway.logs().find((one) => one.includes(requestId) && one.includes('"http.request"')),
        );
        return [name, (JSON.parse(line) as Body)['databaseRequests']];
      };
      const send = (lines: readonly string[], type: string) => () =>
        fetch(`${gateway.hl7BaseUrl}/hl7/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${hl7}`, 'content-type': 'text/plain' },
          body: [`MSH|^~\\&|LAB|HOSP|GW|GW|20261101083000+0100||${type}|S-${(sent += 1)}|P|2.5.1`, pid, ...lines].join(
            '\r',
          ),
        });
      const pid = `PID|1||TRIPS^^^HOSP^MR||Doe^Jane||19800229|F`;
      const obr = 'OBR|1|P|F|GLU^Glucose^L|||20260101080000+0000|||||||||||||||||LAB|F';
      const writes = async () => [
        await trips('create', () =>
          fetch(`${subject().root}/Patient`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
            body: JSON.stringify(patient('1')),
          }),
        ),
        await trips('ADT', send([], 'ADT^A08')),
        await trips('ORU', send([obr, `OBX|1|NM|GLU^Glucose^L||${sent}|mmol/L|||||F`], 'ORU^R01')),
      ];
      // The isolate then knows the key, its settings and the patient.
      await writes();
      const before = await writes();
      expect(before).toEqual([
        ['create', 1],
        ['ADT', 1],
        ['ORU', 1],
      ]);
      await client.query(
        `insert into subscription (site_id, subscription_id, client_id, type, filter, payload, endpoint, host, reason, max_count, status)
           select $1, gen_random_uuid(), $2, (array['Patient', 'Observation', 'Condition'])[1 + n % 3],
                  case when n < 10 then '' else '_id=' || gen_random_uuid() end, 'id-only', $3, $4, 'x', 100, 'active'
             from generate_series(1, 1000) n`,
        [site, key.clientId, newReceiver().url, hosts[0]],
      );
      expect(await writes()).toEqual(before);
    });

    ofOne('$events has each event once, also those that were never accepted', async () => {
      const receiver = newReceiver();
      const { id } = await subscribe('Patient', receiver);
      receiver.answers.push(...Array<number>(50).fill(503));
      const ids: string[] = [];
      for (let n = 0; n < 4; n += 1) ids.push(await create(patient(String(n))));
      await until('all are events', async () => eventsIn(await eventsAsked(id)).length === 4);
      const all = eventsIn(await eventsAsked(id));
      expect(all).toEqual(ids.map((one, n) => ({ event: n + 1, focus: `Patient/${one}/_history/1` })));
      expect(eventsIn(await eventsAsked(id, '?eventsSinceNumber=2&eventsUntilNumber=3'))).toEqual(all.slice(1, 3));
      const full = await eventsAsked(id, '?eventsSinceNumber=4&content=full-resource');
      expect(full['entry'][1]).toMatchObject({ resource: { resourceType: 'Patient', id: ids[3] } });
      const parameters = (parameter: Body[]): Body => ({ resourceType: 'Parameters', parameter });
      const posted = await call(
        'POST',
        `/Subscription/${id}/$events`,
        parameters([
          { name: 'eventsSinceNumber', valueString: '2' },
          { name: 'eventsUntilNumber', valueInteger: 3 },
          { name: 'content', valueCode: 'id-only' },
        ]),
      );
      expect(eventsIn(posted.body)).toEqual(all.slice(1, 3));
      const asked = await call('POST', `/Subscription/${id}/$status`, parameters([]));
      expect(parameter(asked.body, 'events-since-subscription-start')).toMatchObject({ valueString: '4' });
      const bare = await subject().call('POST', `/Subscription/${id}/$status`, { token });
      expect(parameter(bare.body, 'type')).toMatchObject({ valueCode: 'query-status' });
      const wrong = await call(
        'POST',
        `/Subscription/${id}/$events`,
        parameters([{ name: 'since', valueString: '1' }]),
      );
      expectOutcome(wrong, 400, 'not-supported', 'http.since');
      // Another key of the site sees neither the subscription nor its events.
      const stranger = await tokenOf(await createApiKey(subject().client, { site, subscriptionHosts: hosts }));
      for (const path of ['', '/$events', '/$status'])
        expectOutcome(await call('GET', `/Subscription/${id}${path}`, undefined, stranger), 404, 'not-found');
      expect((await call('GET', '/Subscription', undefined, stranger)).body['total']).toBe(0);
      expect((await call('GET', '/Subscription')).body['total']).toBe(1);
    });

    ofOne('$events from a time has each later event, and says the number of its first', async () => {
      const { client } = subject();
      const receiver = newReceiver();
      const { id } = await subscribe('Patient', receiver);
      for (let n = 0; n < 4; n += 1) await create(patient(String(n)));
      await hasEvents(receiver, 4);
      const { rows } = await client.query<{ starts: Date; reached: Date[] }>(
        `select s.created_at as starts, array(select c.reached from change c where c.site_id = s.site_id order by c.number) as reached
           from subscription s where s.subscription_id = $1`,
        [id],
      );
      const { starts = new Date(), reached = [] } = rows[0] ?? {};
      expect(reached).toHaveLength(4);
      const linksOf = (page: Body) =>
        Object.fromEntries((page['link'] as Body[]).map(({ relation, url }) => [relation, new URL(url).search]));
      for (const time of [starts, ...reached]) {
        const first = 1 + reached.filter((one) => one < time).length;
        // A zone of +02:00, whose plus a client may leave as it is.
        const local = new Date(time.getTime() + 7_200_000).toISOString().replace('Z', '+02:00');
        for (const text of [time.toISOString(), local]) {
          const page = await eventsAsked(id, `?eventsSinceTime=${text}&content=id-only`);
          expect(eventsIn(page).map(({ event }) => event)).toEqual([1, 2, 3, 4].slice(first - 1));
          expect(linksOf(page)).toEqual({ self: `?eventsSinceNumber=${first}&content=id-only` });
        }
      }
      const now = (await client.query<{ now: Date }>('select clock_timestamp() as now')).rows[0]?.now.toISOString();
      const none = await eventsAsked(id, `?eventsSinceTime=${now}`);
      expect([eventsIn(none), linksOf(none)]).toEqual([[], { self: '?eventsSinceNumber=5' }]);
      const two = await eventsAsked(id, '?eventsUntilNumber=2');
      expect(linksOf(two)).toEqual({ self: '?eventsSinceNumber=1&eventsUntilNumber=2' });

      for (const query of [
        `eventsSinceTime=${now}&eventsSinceNumber=1`,
        `eventsSinceTime=${new Date(Date.now() + 60_000).toISOString()}`,
        `eventsSinceTime=${new Date(starts.getTime() - 1000).toISOString()}`,
        // Without a zone, the day and the hour may be others at the client.
        `eventsSinceTime=${now?.slice(0, 10)}`,
        `eventsSinceTime=${now?.slice(0, 19)}`,
        'eventsSinceTime=2026-13-01T00:00:00Z',
        'eventsSinceTime=yesterday',
        'eventsSinceTime=',
      ])
        expectOutcome(await call('GET', `/Subscription/${id}/$events?${query}`), 400, 'value', 'http.eventsSinceTime');
      const { rows: notes } = await client.query(
        `select count(*)::int as n from audit where site_id = $1 and client_id = $2 and action = 'notified' and address <> $3 and ids <> '{}'`,
        [site, key.clientId, hosts[0]],
      );
      // Ten pages from a time, and one by number. The page without events and the rejected requests showed nothing.
      expect(notes).toEqual([{ n: 11 }]);
    });

    ofOne('scopes, status and hosts of the key are asked at each post', async () => {
      const receiver = newReceiver();
      const { id } = await subscribe('Patient', receiver);
      const { client } = subject();
      const answerIs = (answer: string) =>
        until(`the answer is ${answer}`, async () => {
          await client.query('update subscription set next_at = now() where subscription_id = $1', [id]);
          await create(patient('wake')).catch(() => undefined);
          const { rows } = await client.query('select last_answer from subscription where subscription_id = $1', [id]);
          return rows[0].last_answer === answer;
        });
      const scopes = '{system/Patient.write,system/Observation.read}';
      await client.query('update api_key set allowed_scopes = $2 where client_id = $1', [key.clientId, scopes]);
      await answerIs('scope');
      expect(eventsOf(receiver)).toEqual([]);
      await client.query(
        `update api_key set allowed_scopes = '{system/Patient.read,system/Patient.write}', subscription_hosts = '{other.example}'
        where client_id = $1`,
        [key.clientId],
      );
      await answerIs('host');
      expect(eventsOf(receiver)).toEqual([]);
      await client.query('update api_key set subscription_hosts = $2 where client_id = $1', [key.clientId, hosts]);
      await answerIs('200');
      const { rows } = await client.query(
        `select count(*)::int as n from resource where site_id = $1 and type = 'Patient'`,
        [site],
      );
      await hasEvents(receiver, rows[0].n);
      const numbers = eventsOf(receiver).map(({ event }) => event);
      expect(numbers).toEqual(numbers.map((_, n) => n + 1));
    });

    ofOne('a subscription from an export on has each version that the export does not have, once', async () => {
      const { client } = subject();
      // The feed begins with the first subscription.
      const first = newReceiver();
      await subscribe('Patient', first);
      const before = await create(patient('before'));
      const kickOff = await subject().call('GET', '/$export?_type=Patient', {
        token,
        headers: { prefer: 'respond-async' },
      });
      const status = kickOff.headers.get('content-location') ?? '';
      let manifest: Body = {};
      await until('the export is complete', async () => {
        const reply = await call('GET', status);
        manifest = reply.body;
        return reply.status === 200;
      });
      await put({ ...patient('before', { gender: 'female' }), id: before });
      const after = await create(patient('after'));
      const receiver = newReceiver();
      const start = {
        url: `${subject().root}/StructureDefinition/subscription-start`,
        valueInstant: manifest['transactionTime'],
      };
      await subscribe('Patient', receiver, { extension: [start] });
      await hasEvents(receiver, 2);
      expect(focusesOf(receiver)).toEqual([`Patient/${before}/_history/2`, `Patient/${after}/_history/1`]);
      await client.query(`update change_position set started_at = now() + interval '1 day' where site_id = $1`, [site]);
      const refused = await call(
        'POST',
        '/Subscription',
        subscription('Patient', receiver.url, { extension: [start] }),
      );
      expectOutcome(refused, 422, 'business-rule', 'Subscription.extension');
    });

    ofOne('an erasure is an event with the id, and the numbers of erased events remain', async () => {
      const receiver = newReceiver();
      const { id } = await subscribe('Patient', receiver, { content: 'full-resource' });
      const [gone, kept] = [await create(patient('gone')), await create(patient('kept'))];
      await hasEvents(receiver, 2);
      await erase(gone);
      await put({ ...patient('kept', { gender: 'male' }), id: kept });
      await hasEvents(receiver, 4);
      expect(focusesOf(receiver).slice(2)).toEqual([`Patient/${gone}`, `Patient/${kept}/_history/2`]);
      const entries = receiver.received.flatMap(({ body }) => body['entry'].slice(1) as Body[]);
      expect(entries.map(({ request }) => request.method)).toContain('DELETE');
      const all = await eventsAsked(id);
      expect(eventsIn(all)).toEqual([
        { event: 1, focus: `Patient/${gone}` },
        { event: 2, focus: `Patient/${kept}/_history/1` },
        { event: 3, focus: `Patient/${gone}` },
        { event: 4, focus: `Patient/${kept}/_history/2` },
      ]);
      expect(JSON.stringify(all)).not.toContain('"value":"gone"');
    });

    /** A Subscription with a notification of each kind: a handshake, events with content, an erasure and a heartbeat. */
    const subscribed = async () => {
      const receiver = newReceiver();
      const { id } = await subscribe('Patient', receiver, {
        content: 'full-resource',
        channel: { extension: [{ url: `${BACKPORT}/backport-heartbeat-period`, valueUnsignedInt: 60 }] },
      });
      const [kept, gone] = [await create(patient('kept')), await create(patient('gone'))];
      await hasEvents(receiver, 2);
      await put({ ...patient('kept', { gender: 'female' }), id: kept });
      await hasEvents(receiver, 3);
      await erase(gone);
      const dueNow = `update subscription set tried_at = tried_at - interval '1 hour' where subscription_id = $1`;
      await create(observation(kept));
      await hasEvents(receiver, 4);
      const { client } = subject();
      await until('the gateway has noted the answer', async () => {
        const { rows } = await client.query('select delivered from subscription where subscription_id = $1', [id]);
        return rows[0].delivered === '4';
      });
      await client.query(dueNow, [id]);
      await create(observation(kept));
      await until('a heartbeat', () => receiver.received.some((one) => typeOf(one) === 'heartbeat'));
      const events = [
        ['1', `Patient/${kept}/_history/1`],
        ['2', `Patient/${gone}/_history/1`],
        ['3', `Patient/${kept}/_history/2`],
        ['4', `Patient/${gone}`],
      ] as const;
      return { id, receiver, kept, gone, events };
    };

    ofOne("Medplum's client, unchanged, reads a Subscription, its status and its events", async () => {
      const { id, receiver, kept, gone, events } = await subscribed();
      const client = new MedplumClient({
        baseUrl: `${subject().gateway.fhirBaseUrl}/`,
        fhirUrlPath: 'fhir',
        accessToken: token,
        cacheTime: 0,
        fetch,
      });
      const read = (bundle: Bundle) => {
        const [status, ...entries] = bundle.entry ?? [];
        const all = status?.resource?.resourceType === 'Parameters' ? (status.resource.parameter ?? []) : [];
        const valueOf = (parts: readonly ParametersParameter[] | undefined, name: string) => {
          const part = parts?.find((one) => one.name === name);
          return part?.valueString ?? part?.valueCode ?? part?.valueReference?.reference?.replace(/^.*\/fhir\//, '');
        };
        return {
          type: valueOf(all, 'type'),
          count: valueOf(all, 'events-since-subscription-start'),
          events: all
            .filter(({ name }) => name === 'notification-event')
            .map(({ part }) => [valueOf(part, 'event-number'), valueOf(part, 'focus')]),
          resources: entries.map(({ resource, request }) => resource?.id ?? request?.method),
        };
      };
      const received = receiver.received.map(({ text }) => read(JSON.parse(text) as Bundle));
      expect(new Set(received.map(({ type }) => type))).toEqual(
        new Set(['handshake', 'event-notification', 'heartbeat']),
      );
      expect(received.flatMap((one) => one.events)).toEqual(events);
      expect(received.flatMap(({ resources }) => resources)).toEqual([kept, gone, kept, 'DELETE']);
      const asked = (what: string): Promise<Bundle> => client.get(client.fhirUrl('Subscription', id, what));
      expect(read(await asked('$events'))).toEqual({
        type: 'query-event',
        count: '4',
        // Its content is erased, and its number remains.
        events: events.map(([number, focus]) => [number, focus.replace(`${gone}/_history/1`, gone)]),
        resources: [kept, kept, 'DELETE'],
      });
      expect(read(await asked('$status'))).toEqual({ type: 'query-status', count: '4', events: [], resources: [] });
      const found = await client.readResource('Subscription', id);
      expect(found).toMatchObject({ id, status: 'active', channel: { type: 'rest-hook' } });
      expect([...(await client.searchResources('Subscription'))]).toMatchObject([{ id }]);
      expect(await client.updateResource({ ...found, status: 'off' })).toMatchObject({ status: 'off' });
      await client.deleteResource('Subscription', id);
      await expect(client.readResource('Subscription', id)).rejects.toThrow(OperationOutcomeError);
    });

    // To compile and to start a JVM are ten seconds of a core, which other tests want too.
    test("HAPI's client, unchanged: every call, and the notifications", { timeout: 120_000 }, async ({ skip }) => {
      skip(withoutHapi, hapi.NO_HAPI);
      // A JVM for each is too slow for both every time.
      skip(subject().gateway.runtime === 'deno' && !isFull, 'on the other runtime; TEST_SIZE=full runs it on both');
      ({ site, token } = subject());
      await subject().client.query('update api_key set subscription_hosts = $2 where client_id = $1', [
        subject().key.clientId,
        hosts,
      ]);
      const { id, receiver, kept, gone, events } = await subscribed();
      const texts = receiver.received.map(({ text }) => text);
      const report = await hapi.hapiCalls(subject(), { id, notifications: texts });
      expectOutcomes('HAPI FHIR', report, hapi.ASKS_NOTHING);
      const [received, asked] = [report.notifications.slice(0, -2), report.notifications.slice(-2)];
      expect(new Set(received.map(({ bundle, type }) => `${bundle} ${type}`))).toEqual(
        new Set(['history handshake', 'history event-notification', 'history heartbeat']),
      );
      expect(received.flatMap((one) => one.events)).toEqual(events);
      expect(received.flatMap(({ resources }) => resources)).toEqual([
        ...events.slice(0, 3).map(([, focus]) => focus),
        'DELETE',
      ]);
      expect(asked).toMatchObject([
        { bundle: 'searchset', type: 'query-status', events: [], resources: [] },
        {
          bundle: 'history',
          type: 'query-event',
          events: [['2', `Patient/${gone}`], ...events.slice(2)],
          resources: [`Patient/${kept}/_history/2`, 'DELETE'],
        },
      ]);
    });
  },
  (subject) => {
    test('is off without hosts, to another host, without the scope of the type, and for what is not supported', async () => {
      const { client, root } = subject();
      const site = await createSite(client);
      const key = await createApiKey(client, {
        site,
        scopes: ['system/Patient.read'],
        subscriptionHosts: [`127.0.0.1:${host.port}`],
      });
      const token = await getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
      const good = {
        resourceType: 'Subscription',
        status: 'requested',
        reason: 'test',
        criteria: `${root}/SubscriptionTopic/Patient-changed`,
        channel: { type: 'rest-hook', endpoint: newReceiver().url, payload: 'application/fhir+json' },
      };
      const post = (change: Body) => subject().call('POST', '/Subscription', { token, body: { ...good, ...change } });
      const channel = (change: Body) => ({ channel: { ...good.channel, ...change } });
      const filter = (valueString: string) => ({
        _criteria: { extension: [{ url: `${BACKPORT}/backport-filter-criteria`, valueString }] },
      });
      for (const [change, place] of [
        [{ criteria: 'Patient?name=x' }, 'criteria'],
        [{ contact: [] }, 'contact'],
        // The day depends on a zone.
        [
          { extension: [{ url: `${root}/StructureDefinition/subscription-start`, valueInstant: '2026-01-01' }] },
          'extension',
        ],
        [{ reason: undefined }, 'reason'],
        [filter('Observation?code=x'), 'criteria.extension'],
        [filter('Patient?nothing=x'), 'criteria.extension'],
        [channel({ type: 'websocket' }), 'channel.type'],
        [channel({ payload: 'text/plain' }), 'channel.payload'],
        [channel({ header: ['Host: inside.example'] }), 'channel.header'],
        [channel({ header: [] }), 'channel.header'],
        [channel({ endpoint: 'https://hooks.example.org/' }), 'channel.endpoint'],
      ] as const) {
        const reply = await post(change);
        expect(reply.status, JSON.stringify(change)).toBe(422);
        const places = (reply.body['issue'] as Body[]).flatMap(({ expression }) => expression as string[]);
        expect(places, JSON.stringify(change)).toContain(`Subscription.${place}`);
      }
      // An administrator's list of hosts allows none of these.
      await client.query(
        'update api_key set subscription_hosts = subscription_hosts || $2::text[] where client_id = $1',
        [key.clientId, FORBIDDEN_HOSTS],
      );
      for (const endpoint of [...FORBIDDEN_URLS, root.replace('http:', 'https:')]) {
        const reply = await post(channel({ endpoint }));
        expectOutcome(reply, 422, 'business-rule', 'Subscription.channel.endpoint');
        expect(reply.text, endpoint).toContain('the endpoint cannot be used: it');
      }
      expectOutcome(await post({ criteria: `${root}/SubscriptionTopic/Observation-changed` }), 403, 'forbidden');
      expect((await post({})).status).toBe(201);
      await client.query(`update api_key set subscription_hosts = '{}' where client_id = $1`, [key.clientId]);
      expectOutcome(await post({}), 422, 'business-rule', 'Subscription.channel.endpoint');
    });

    test('is changed, switched off and on without a loss, and deleted', async () => {
      const { client } = subject();
      const site = await createSite(client);
      const key = await createApiKey(client, { site, subscriptionHosts: [`127.0.0.1:${host.port}`] });
      const token = await getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
      const call = (method: string, path: string, body?: Body) =>
        subject().call(method, path, { token, ...(body === undefined ? {} : { body }) });
      const receiver = newReceiver();
      const resource = {
        resourceType: 'Subscription',
        status: 'requested',
        reason: 'test',
        criteria: `${subject().root}/SubscriptionTopic/Patient-changed`,
        channel: { type: 'rest-hook', endpoint: receiver.url, payload: 'application/fhir+json' },
      };
      const header = ['Authorization: Bearer of-the-receiver'];
      const { body: made } = await call('POST', '/Subscription', {
        ...resource,
        channel: { ...resource.channel, header },
      });
      const path = `/Subscription/${made['id']}`;
      await until('it is active', async () => (await call('GET', path)).body['status'] === 'active');
      expect(receiver.received[0]?.headers.authorization).toBe('Bearer of-the-receiver');
      const stored = await client.query('select headers from subscription where subscription_id = $1', [made['id']]);
      expect(JSON.stringify([made, await call('GET', path), stored.rows])).not.toContain('of-the-receiver');
      // The complete answer can be sent back. Its headers are kept, and the secret is shown again.
      const { body: paused } = await call('PUT', path, { ...made, status: 'off' });
      expect(paused).toMatchObject({ status: 'off', meta: { versionId: '2' }, extension: made['extension'] });
      expect((await call('GET', path)).body).not.toHaveProperty('extension');
      const stale = { token, body: { ...made, status: 'off' }, headers: { 'if-match': 'W/"1"' } };
      expectOutcome(await subject().call('PUT', path, stale), 412, 'conflict');
      const missed = await subject().create(patient('missed'), token);
      const other = { ...made, criteria: made['criteria'].replace('Patient', 'Condition') };
      expectOutcome(await call('PUT', path, other), 422, 'business-rule', 'Subscription.criteria');
      expect((await call('PUT', path, { ...made, status: 'active' })).body['status']).toBe('requested');
      await until('it is posted', async () => eventsOf(receiver).length > 0);
      expect(focusesOf(receiver)).toEqual([`Patient/${missed}/_history/1`]);
      expect(receiver.received.at(-1)?.headers.authorization).toBe('Bearer of-the-receiver');

      // A receiver that is away for three days loses nothing.
      const state = async () =>
        (await client.query('select status, last_answer from subscription where subscription_id = $1', [made['id']]))
          .rows[0];
      const away = [await subject().create(patient('away'), token)];
      await until('it is accepted', async () => eventsOf(receiver).length === 2);
      receiver.answers.push(503, 503, 503, 503);
      away.push(await subject().create(patient('away'), token));
      await until('a post fails', async () => (await state()).last_answer === '503');
      expect((await call('GET', path)).body).toMatchObject({
        status: 'active',
        error: expect.stringContaining('503'),
      });
      await client.query(
        `update subscription set next_at = now(), failing_since = failing_since - interval '73 hours' where site_id = $1`,
        [site],
      );
      away.push(await subject().create(patient('away'), token));
      await until('it is given up', async () => (await state()).status === 'error');
      const { body: failed } = await call('GET', path);
      expect(failed).toMatchObject({ status: 'error', error: expect.stringContaining('503') });
      receiver.answers.length = 0;
      away.push(await subject().create(patient('away'), token));
      expect((await call('PUT', path, { ...failed, status: 'requested' })).status).toBe(200);
      await until('all is posted', async () => eventsOf(receiver).length === 5);
      expect(focusesOf(receiver).slice(1)).toEqual(away.map((one) => `Patient/${one}/_history/1`));
      // 410: the receiver wants no more.
      receiver.answers.push(410);
      await subject().create(patient('gone'), token);
      await until('it is given up at once', async () => (await state()).status === 'error');

      // Another host does not get them.
      const hosts = [`127.0.0.1:${host.port}`, 'hooks.example.org'];
      await client.query('update api_key set subscription_hosts = $2 where client_id = $1', [key.clientId, hosts]);
      const elsewhere = { ...failed, channel: { ...failed['channel'], endpoint: 'https://hooks.example.org/' } };
      expect((await call('PUT', path, { ...elsewhere, status: 'off' })).status).toBe(200);
      expect((await client.query('select headers from subscription where site_id = $1', [site])).rows).toEqual([
        { headers: null },
      ]);
      const end = new Date(Date.now() - 1000).toISOString();
      expect((await call('PUT', path, { ...failed, status: 'requested', end })).body).toMatchObject({
        status: 'off',
        end,
      });
      expect((await call('DELETE', path)).status).toBe(200);
      expectOutcome(await call('GET', path), 404, 'not-found');
      expectOutcome(await call('DELETE', path), 404, 'not-found');
      const { body } = await call('GET', '/metadata');
      const shown = body['rest'][0].resource.find(({ type }: Body) => type === 'Subscription');
      expect(shown.extension[0].valueCanonical).toBe(resource.criteria);
    });
  },
);
