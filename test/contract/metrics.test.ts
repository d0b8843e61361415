/** `/metrics`: who may read it, what it counts, and what it never says. The same on workerd and on Deno. */
import { expect, test } from 'vitest';

import { createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { msh } from '../stack/tools/hl7-text.ts';
import { startSubject } from './hl7/subject.ts';
import { onOneRuntime } from './on-runtimes.ts';

onOneRuntime(startSubject, (subject) => {
  const scrape = (authorization?: string) =>
    fetch(`${subject().gateway.hl7BaseUrl}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
  const bearer = () => `Bearer ${subject().gateway.secrets.env.METRICS_TOKEN}`;

  test('is for callers with the token, and answers others without data', async () => {
    for (const given of [undefined, 'Bearer ', `Basic ${bearer()}`, `${bearer()}x`, `Bearer ${subject().token}`]) {
      const refused = await scrape(given);
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="metrics"']);
      expect(await refused.text()).not.toContain('gateway_');
    }
    const scraped = await scrape(bearer());
    expect([scraped.status, scraped.headers.get('content-type'), scraped.headers.get('cache-control')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'no-store',
    ]);
  });

  test('counts requests, ACKs and tokens by site, has the last message of each key, and names no person', async () => {
    const { site, key, db, gateway } = subject();
    const { clientId } = key;
    const other = await createSite(db.client);
    await createApiKey(db.client, { site: other, name: 'Ward of Dr. Nosy' });
    const patient = 'PID|1||4711^^^HOSP^MR||Nosy^Nora||19800101';
    expect((await subject().post(`${msh('ADT^A04^ADT_A01', 'METRIC-1')}\n${patient}`)).status).toBe(200);
    expect((await subject().post(`${msh('ADT^A04^ADT_A01', 'METRIC-2')}\nPID|1`)).status).toBe(422);
    const text = await until('the counts are written', async () => {
      const text = await (await scrape(bearer())).text();
      return text.includes(`gateway_acks_total{site="${site}",surface="hl7",code="AE"} 1\n`) ? text : undefined;
    });
    const labels = `site="${site}",surface="hl7"`;
    expect(text).toContain(`gateway_acks_total{${labels},code="AA"} 1\n`);
    expect(text).toContain(`gateway_responses_total{${labels},status="422"} 1\n`);
    expect(text).toContain(`gateway_tokens_issued_total{site="${site}"} 1\n`);
    expect(text).toContain(`gateway_request_duration_seconds_count{${labels},outcome="ok"} 1\n`);
    expect(text).toContain(`gateway_request_duration_seconds_bucket{${labels},outcome="refused",le="+Inf"} 1\n`);
    const [, at] =
      new RegExp(
        `gateway_feed_last_message_timestamp_seconds\\{site="${site}",client_id="${clientId}",surface="hl7"\\} ([\\d.]+)`,
      ).exec(text) ?? [];
    expect(Math.abs(Date.now() / 1000 - Number(at))).toBeLessThan(60);
    expect(text).not.toMatch(/Nosy|4711|METRIC|Ward|1980/);
    expect(text).toContain('gateway_database_up 1\n');
    const own = Object.fromEntries(
      [...text.matchAll(/^gateway_((?:memory|event_loop|database_(?:conn|req))\S*) (\S+)$/gm)].map(
        ([, name, value]) => [name, Number(value)],
      ),
    );
    const over = (least: number) => expect.toSatisfy((value: number) => value >= least);
    // Workers measures no process.
    const expected = {
      'memory_bytes{kind="resident"}': over(20_000_000),
      'memory_bytes{kind="heap"}': over(5_000_000),
      event_loop_delay_seconds_total: over(0),
      'database_connections{state="busy"}': over(0),
      'database_connections{state="idle"}': over(1),
      database_requests_waiting: 0,
    };
    expect(own).toEqual(gateway.runtime === 'deno' ? expected : {});
    const { rows } = await db.client.query<{ name: string }>('select name from site where site_id = $1', [site]);
    expect(text).toContain(`gateway_site_info{site="${site}",name="${rows[0]?.name ?? ''}"} 1\n`);
    // Ids and words of closed lists alone: no other label has a space or any character that would have to be escaped.
    const values = [...text.replaceAll(/^gateway_site_info.*$/gm, '').matchAll(/"([^"]*)"/g)].map(([, value]) => value);
    expect(values.filter((value) => !/^[A-Za-z0-9.+_-]*$/.test(value ?? ''))).toEqual([]);
    const before = db.endpoint.requests();
    expect(await (await scrape(bearer())).text()).toContain('gateway_info');
    expect(db.endpoint.requests() - before).toBe(1);
    expect(gateway.logs().some((line) => line.includes('"event":"bug"'))).toBe(false);
  });
});
