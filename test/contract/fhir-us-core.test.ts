/** Searches with FHIR_SEARCH=us-core over HTTP (edge/docs/behaviour.md, FHIR). */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';

import { getToken } from '../stack/services/client.ts';
import { createApiKey } from '../stack/services/seed.ts';
import { everyNth, sized } from '../stack/tools/size.ts';
import { exportCases } from './clients/export-cases.ts';
import { download, linesOf, manifestOf } from './fhir/bulk-export.ts';
import { onOneRuntime } from './on-runtimes.ts';
import { docrefCases } from './fhir/docref-cases.ts';
import { groupCases } from './fhir/group-cases.ts';
import { profileCases } from './fhir/profile-cases.ts';
import { provenanceCases } from './fhir/provenance-cases.ts';
import { relatedCases } from './fhir/related-cases.ts';
import { type Body, expectOutcome, idsOf, linkOf, observation, startSubject, walk } from './fhir/subject.ts';

onOneRuntime(
  (runtime) =>
    startSubject(runtime, {
      FHIR_SEARCH: 'us-core',
      FHIR_PROFILES: 'us-core',
      FHIR_GROUPS: 'on',
      FHIR_PROVENANCE: 'on',
    }),
  (subject) => {
    let site: string;
    let token: string;
    const ids: Record<string, string> = {};
    const nameOf = (id: string): string => Object.keys(ids).find((name) => ids[name] === id) ?? id;
    const get = (path: string, headers: Record<string, string> = {}) => subject().call('GET', path, { token, headers });
    const category = (code: string): Body => ({ coding: [{ system: 'urn:category', code }] });
    const about = (name: string): Body => ({ reference: `Patient/${ids[name]}` });

    /** The ids in an export with the search as `_typeFilter`. */
    const exportedBy = async (query: string): Promise<string[]> => {
      const [type = ''] = query.split('?');
      const path = `/$export?_type=${type}&_typeFilter=${encodeURIComponent(query)}`;
      const { output } = await manifestOf(subject(), path, { token });
      const files = await Promise.all(output.map(({ url }) => download(url, token)));
      return files.flatMap(linesOf).map(({ id }) => String(id));
    };

    beforeAll(async () => {
      ({ site, token } = await subject().newSite());
      await subject().client.query(`update site set time_zone = 'America/New_York' where site_id = $1`, [site]);
      const add = async (name: string, resource: Body): Promise<string> =>
        (ids[name] = await subject().create(resource, token));
      await add('ann', {
        resourceType: 'Patient',
        name: [{ family: 'Müller-Lüdenscheidt', given: ['Ann', 'Mary'] }, { text: 'Annie' }],
        gender: 'female',
        birthDate: '1974-12-25',
      });
      await add('bob', { resourceType: 'Patient', name: [{ family: 'muller', given: ['Bob'] }], birthDate: '1975' });
      await add('unknown', { resourceType: 'Patient' });
      const [ann = '', bob = ''] = [ids['ann'], ids['bob']];
      // 23:30 in New York, and so the next day in UTC.
      await add(
        'evening',
        observation(ann, { category: [category('laboratory')], effectiveDateTime: '2026-03-10T03:30:00Z' }),
      );
      await add('day', observation(ann, { category: [category('laboratory')], effectiveDateTime: '2026-03-09' }));
      await add('month', observation(bob, { category: [category('vital-signs')], effectiveDateTime: '2026-03' }));
      await add(
        'open',
        observation(bob, { status: 'amended', effectivePeriod: { start: '2026-03-10T12:00:00-04:00' } }),
      );
      await add(
        'schedule',
        observation(bob, { status: 'preliminary', effectiveTiming: { event: ['2026-01-05', '2026-01-01'] } }),
      );
      await add('undated', observation(ann));
      for (const status of ['final', 'amended', 'preliminary'])
        await add(`report-${status}`, {
          resourceType: 'DiagnosticReport',
          status,
          code: { coding: [{ code: 'CT' }] },
          subject: about('ann'),
        });
      await add('problem', {
        resourceType: 'Condition',
        subject: about('bob'),
        category: [category('problem-list-item')],
        onsetPeriod: { start: '2020', end: '2021-06' },
        recordedDate: '2021-07-01T10:00:00Z',
      });
      await add('allergy', {
        resourceType: 'AllergyIntolerance',
        patient: about('bob'),
        category: ['food'],
        clinicalStatus: {
          coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
        },
        recordedDate: '2020-05',
      });
      await add('procedure', {
        resourceType: 'Procedure',
        status: 'completed',
        subject: about('ann'),
        category: category('surgery'),
        performedDateTime: '2019',
      });
      await add('unset', {
        resourceType: 'Procedure',
        status: 'unknown',
        subject: about('ann'),
        performedDateTime: '0001-01-01',
      });
      await add('document', {
        resourceType: 'DocumentReference',
        status: 'current',
        subject: about('ann'),
        category: [category('clinical-note')],
        date: '2026-02-01T00:00:00.000Z',
        context: { period: { start: '2026-01-30', end: '2026-01-31' } },
        content: [{ attachment: { url: 'https://example.test/1' } }],
      });
    });

    const SEARCHES: readonly [query: string, expected: string[]][] = [
      ['Patient?family=muller', ['ann', 'bob']],
      ['Patient?family=ludenscheidt', []],
      ['Patient?family:contains=LUDENSCHEIDT', ['ann']],
      ['Patient?family:exact=muller', ['bob']],
      ['Patient?family:exact=Müller', []],
      ['Patient?given=mar', ['ann']],
      ['Patient?given=ann,bob&family=mull', ['ann', 'bob']],
      ['Patient?given=muller', []],
      ['Patient?name=lüdens', ['ann']],
      ['Patient?name:exact=Annie', ['ann']],
      ['Patient?name:exact=annie', []],
      ['Patient?name:contains=ob', ['bob']],
      ['Patient?name:missing=true', ['unknown']],
      ['Patient?birthdate=1974', ['ann']],
      ['Patient?birthdate=1975-01', []],
      ['Patient?birthdate=gt1974-12-25', ['bob']],
      ['Patient?birthdate=ge1974-12-25&birthdate=lt1975-06', ['ann', 'bob']],
      ['Patient?birthdate=eb1975', ['ann']],
      ['Patient?birthdate:missing=true', ['unknown']],
      ['Patient?gender:not=female', ['bob', 'unknown']],
      ['Patient?gender:missing=false', ['ann']],
      // A day of New York's.
      ['Observation?date=2026-03-09', ['evening', 'day']],
      ['Observation?date=2026-03-10', []],
      ['Observation?date=2026-03-10T03:30:00Z', ['evening']],
      ['Observation?date=2026-03', ['evening', 'day', 'month']],
      ['Observation?date=ge2026-03-10', ['month', 'open']],
      ['Observation?date=lt2026-03-01', ['schedule']],
      ['Observation?date=2026-01', ['schedule']],
      ['Observation?date=sa2026-01-05', ['evening', 'day', 'month', 'open']],
      ['Observation?date=ne2026-03', ['open', 'schedule']],
      ['Observation?date:missing=true', ['undated']],
      ['Observation?date:missing=false&status=final', ['evening', 'day', 'month']],
      ['Observation?category=laboratory', ['evening', 'day']],
      ['Observation?category=urn:category|vital-signs,laboratory', ['evening', 'day', 'month']],
      ['Observation?category:not=laboratory', ['month', 'open', 'schedule', 'undated']],
      ['Observation?category:not=laboratory,vital-signs&date:missing=false', ['open', 'schedule']],
      ['Observation?status=amended', ['open']],
      ['Observation?status=http://hl7.org/fhir/observation-status|preliminary', ['schedule']],
      ['Observation?status=http://hl7.org/fhir/observation-status|&date:missing=true', ['undated']],
      ['Observation?status=amended,http://hl7.org/fhir/observation-status|&date:missing=true', ['undated']],
      ['Observation?status:not=http://hl7.org/fhir/observation-status|', []],
      ['Observation?status=|final', []],
      ['Observation?status=urn:other|final', []],
      ['Observation?status=urn:other|', []],
      ['Observation?status=|final,http://hl7.org/fhir/observation-status|amended', ['open']],
      ['Observation?status:not=final', ['open', 'schedule']],
      ['Observation?subject=Patient/$ann&category=laboratory&date=ge2026-03-09', ['evening', 'day']],
      ['Observation?patient=$bob&code=8867-4&date=ge2026-03-10', ['month', 'open']],
      ['Observation?patient:Patient=$bob&code=8867-4&date=ge2026-03-10', ['month', 'open']],
      ['Observation?patient:Patient=Patient/$bob&patient=$ann', []],
      ['DiagnosticReport?status=final', ['report-final']],
      ['DiagnosticReport?status=amended,preliminary', ['report-amended', 'report-preliminary']],
      ['DiagnosticReport?patient=$ann&code=CT&status:not=final', ['report-amended', 'report-preliminary']],
      [
        'DiagnosticReport?date:missing=true&category:missing=true',
        ['report-final', 'report-amended', 'report-preliminary'],
      ],
      ['Condition?onset-date=gt2021', []],
      ['Condition?onset-date=gt2021-05&category=problem-list-item', ['problem']],
      ['Condition?recorded-date=2021-07-01', ['problem']],
      ['Condition?clinical-status:missing=true&subject=$bob', ['problem']],
      ['AllergyIntolerance?category=food&date=2020', ['allergy']],
      // Programs without a date write this one.
      ['Procedure?date=0001-01-01', ['unset']],
      ['Procedure?date=0001-01-02', []],
      ['Procedure?date=lt0001-01-02', ['unset']],
      ['Procedure?patient=$ann&date=le2019&category=surgery&status=completed', ['procedure']],
      [
        'DocumentReference?date=2026-02-01T00:00:00Z&period=2026-01&category=clinical-note&status=current',
        ['document'],
      ],
      ['DocumentReference?date=2026-02-01', []],
      ['DocumentReference?period=lt2026-01-31&type:missing=true', ['document']],
    ];
    test.each(everyNth(2, SEARCHES).map((search, n) => [...search, n % sized(3, 1) === 0] as const))(
      '%s',
      async (query, expected, isPagedToo) => {
        const path = `/${query.replace(/\$(\w+)/g, (_, name: string) => ids[name] ?? '')}`;
        const reply = await get(path);
        expect(reply.status, reply.text).toBe(200);
        expect(idsOf(reply).map(nameOf)).toEqual(expected);
        // The total counts the found resources.
        const counted = await get(`${path}&_summary=count`);
        expect(counted.body['total']).toBe(expected.length);
        if (!isPagedToo) return;
        const paged = await walk(subject(), `${path}&_count=1`, token);
        expect(paged.flatMap(idsOf).map(nameOf)).toEqual(expected);
        // An export evaluates the same search in the gateway, not in the database.
        expect((await exportedBy(path.slice(1))).map(nameOf)).toEqual(expected);
      },
    );

    test('an export by each prefix of a date has what the search finds, in the time zone of the site', async () => {
      const dates = ['2026-03-09', '2026-03', '2026-03-10T03:30:00Z', '2026-03-09T23:30', '2026-01-01', '2026'];
      const all = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'sa', 'eb', 'ap'].flatMap((prefix) =>
        dates.flatMap((date) => [`Observation?date=${prefix}${date}`, `Observation?_lastUpdated=${prefix}${date}`]),
      );
      const queries = everyNth(5, all);
      let found = 0;
      for (const query of queries) {
        const ids = idsOf(await get(`/${query}`));
        found += ids.length;
        expect([query, await exportedBy(query)]).toEqual([query, ids]);
      }
      expect(found).toBeGreaterThan(queries.length);
    });

    test.each<[string, string]>([
      ['Patient?birthdate=1974-12-25T10:00', 'birthdate'],
      ['Patient?birthdate=around1974', 'birthdate'],
      ['Patient?gender:contains=male', 'gender:contains'],
      ['Patient?family:not=x', 'family:not'],
      ['Patient?family:exact:exact=x', 'family:exact:exact'],
      ['Patient?_id:missing=true', '_id:missing'],
      ['Patient?subject=x', 'subject'],
      ['Observation?patient:Patient=Group/1', 'patient:Patient'],
      ['Observation?patient:Group=1', 'patient:Group'],
      ['Observation?code:Patient=1', 'code:Patient'],
      ['Patient?_include=Patient:link', '_include'],
      ['Observation?date=yesterday', 'date'],
      ['Observation?date:exact=2026', 'date:exact'],
      ['Observation?date:missing=perhaps', 'date:missing'],
      ['Observation?encounter=1', 'encounter'],
      ['Observation?_include=Observation:encounter', '_include'],
      ['Observation?_include=*', '_include'],
      ['Observation?_include:iterate=Observation:patient', '_include:iterate'],
      ['Observation?_include=Observation:patient&_summary=text', '_include'],
    ])('%s is rejected by name', async (query, name) => {
      const reply = await get(`/${query}`);
      const [{ code }] = reply.body['issue'] as [Body];
      expectOutcome(reply, 400, code, `http.${name}`);
    });

    test('another target type of patient is rejected with the type that it has', async () => {
      const reply = await get('/Observation?subject:Group=1');
      expectOutcome(reply, 400, 'not-supported', 'http.subject:Group');
      expect(reply.text).toContain('subject refers to a Patient only, not to Group: send subject=Patient/[id]');
    });

    test('names in all parameters are counted together, with any modifiers', async () => {
      const names = (n: number): string => Array.from({ length: n }, (_, at) => `zzq${at}`).join(',');
      const query = (n: number): string =>
        `/Patient?name:exact=${names(5)}&family:contains=${names(5)}&given=${names(5)}&family=${names(n)}`;
      expect((await get(query(5))).status).toBe(200);
      const reply = await get(query(6));
      expectOutcome(reply, 422, 'too-costly', 'http.family');
      expect(reply.body['issue'][0].diagnostics).toContain('20 names');
      for (const parameter of ['family', 'family:contains', 'given:exact', 'name:exact'])
        expectOutcome(await get(`/Patient?${parameter}=${'x'.repeat(257)}`), 400, 'value', `http.${parameter}`);
    });

    test.each([
      ['-date', ['open', 'evening', 'day', 'month', 'schedule', 'undated']],
      ['date', ['schedule', 'month', 'day', 'evening', 'open', 'undated']],
    ])('_sort=%s: by the beginning of the date, without a date last, in pages as at once', async (by, names) => {
      const first = await get(`/Observation?_sort=${by}&patient=${ids['ann']},${ids['bob']}&_count=6`);
      expect(idsOf(first).map(nameOf)).toEqual(names);
      const pages = await walk(subject(), `/Observation?_sort=${by}&_count=2`, token);
      expect(pages.map((page) => idsOf(page).map(nameOf))).toEqual([
        names.slice(0, 2),
        names.slice(2, 4),
        names.slice(4),
      ]);
    });

    test('the pages by date have each remaining resource once while others change', async () => {
      const other = await subject().newSite();
      const of = async (n: number, at: string | undefined) => {
        const resource = observation('', at === undefined ? {} : { effectiveDateTime: at });
        delete resource['subject'];
        return await subject().create({ ...resource, identifier: [{ value: String(n) }] }, other.token);
      };
      const days = ['2026-01-01', '2026-01-02', undefined, '2026-01-02', '2026-01-03', undefined, '2026-01-01'];
      for (const by of ['date', '-date']) {
        const residents: string[] = [];
        for (const [n, day] of days.entries()) residents.push(await of(n, day));
        const seen: string[] = [];
        let next: string | undefined = `/Observation?_sort=${by}&_count=2`;
        for (let n = 0; next !== undefined; n += 1) {
          const reply = await subject().call('GET', next, { token: other.token });
          seen.push(...idsOf(reply));
          next = linkOf(reply, 'next');
          if (n < 6) await of(n, n % 2 === 0 ? ['2025-12-31', '2026-01-02', '2026-01-04'][n % 3] : undefined);
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(expect.arrayContaining(residents));
      }
    });

    test.each([
      ['_sort=-date,_lastUpdated', /_sort by a date must be the only key/],
      ['_sort=date,-_id', /_sort by a date must be the only key/],
      ['_sort=_lastUpdated,date', /_sort by a date must be the only key/],
      ['_sort=onset-date', /_sort must list _id, _lastUpdated, date,/],
    ])('%s is rejected', async (query, message) => {
      const reply = await get(`/Observation?${query}`);
      expectOutcome(reply, 400, 'value');
      expect(reply.text).toMatch(message);
    });

    test('another _revinclude is rejected by name, or left out and reported', async () => {
      const path = '/Observation?_revinclude=Provenance:agent';
      const reply = await get(path);
      expectOutcome(reply, 400, 'not-supported', 'http._revinclude');
      expect(reply.text).toContain('supported: Provenance:target');
      const lenient = await get(path, { prefer: 'handling=lenient' });
      expect(lenient.status).toBe(200);
      expect(linkOf(lenient, 'self')).not.toContain('_revinclude');
      expect(JSON.stringify(lenient.body['entry'].at(-1))).toContain('supported: Provenance:target');
    });

    describe('_include of the patient', () => {
      const modes = (body: Body): string[] =>
        ((body['entry'] ?? []) as Body[]).map(({ search, resource }) => `${search.mode} ${nameOf(resource.id)}`);

      test('is included once, after the matches, and is not counted', async () => {
        const { endpoint } = subject().db;
        const before = endpoint.requests();
        const reply = await get(
          '/Observation?category=laboratory,vital-signs&_include=Observation:patient&_total=accurate',
        );
        expect(endpoint.requests() - before).toBe(1);
        expect(modes(reply.body)).toEqual(['match evening', 'match day', 'match month', 'include ann', 'include bob']);
        expect(reply.body['total']).toBe(3);
        const [included] = (reply.body['entry'] as Body[]).slice(3);
        expect(included).toMatchObject({
          fullUrl: `${subject().root}/Patient/${ids['ann']}`,
          resource: { resourceType: 'Patient', gender: 'female', meta: { versionId: '1' } },
        });
      });

      test('is included on each page, whose size counts matches only', async () => {
        const path =
          '/Observation?category=laboratory,vital-signs&_include=Observation:subject:Patient&_sort=-_lastUpdated&_count=2';
        const pages = await walk(subject(), path, token);
        expect(pages.map(({ body }) => modes(body))).toEqual([
          ['match month', 'match day', 'include ann', 'include bob'],
          ['match evening', 'include ann'],
        ]);
        expect(linkOf(pages[0] as never, 'self')).toContain('_include=Observation%3Asubject%3APatient');
      });

      test('for a report is the patient of its study; a resource without a patient has no include', async () => {
        const reports = await get('/DiagnosticReport?status=final&_include=DiagnosticReport:patient');
        expect(modes(reports.body)).toEqual(['match report-final', 'include ann']);
        const unknown = await subject().create(
          { resourceType: 'Observation', status: 'final', code: { text: 'x' } },
          token,
        );
        const alone = await get(`/Observation?_id=${unknown}&_include=Observation:patient`);
        expect(modes(alone.body)).toEqual([`match ${unknown}`]);
      });

      test('needs the scope of patients too, in a batch as alone', async () => {
        const limited = await subject().tokenWith(['system/Observation.read']);
        const path = 'Observation?_include=Observation:patient';
        const alone = await subject().call('GET', `/${path}`, { token: limited });
        expectOutcome(alone, 403, 'forbidden');
        expect(alone.headers.get('www-authenticate')).toContain('system/Patient.read');
        const body = { resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url: path } }] };
        const batch = await subject().call('POST', '', { token: limited, body });
        expect(batch.body['entry'][0].response.status).toMatch(/^403/);
      });

      test('is complete beside _elements, and a part with a summary', async () => {
        const path = `/Observation?_id=${ids['evening']}&_include=Observation:patient`;
        const elements = await get(`${path}&_elements=status`);
        const [match, included] = elements.body['entry'] as Body[];
        expect([match?.['resource'].meta.tag, included?.['resource'].birthDate]).toMatchObject([
          [{ code: 'SUBSETTED' }],
          '1974-12-25',
        ]);
        const summary = await get(`${path}&_summary=true`);
        expect((summary.body['entry'] as Body[])[1]?.['resource'].meta.tag).toMatchObject([{ code: 'SUBSETTED' }]);
      });

      test('is in the audit with the matches', async () => {
        const requestId = randomUUID();
        await get('/Observation?category=vital-signs&_include=Observation:patient', { 'x-request-id': requestId });
        const { rows } = await subject().client.query(
          `select action, patients::text[] as patients, parameters,
                  array(select t || '/' || i from unnest(types, ids) u(t, i)) as resources
             from audit where request_id = $1`,
          [requestId],
        );
        expect(rows).toEqual([
          {
            action: 'search',
            parameters: ['category', '_include'],
            patients: [ids['bob']],
            resources: [`Observation/${ids['month']}`, `Patient/${ids['bob']}`],
          },
        ]);
      });

      test('counts toward the size: a page that would be too large ends before', async () => {
        const { token: own } = await subject().newSite();
        const large = await Promise.all(
          [1, 2, 3, 4, 5].map((n) =>
            subject().create(
              {
                resourceType: 'Patient',
                name: [1, 2].map(() => ({ text: 'x'.repeat(900_000) })),
                identifier: [{ value: `${n}` }],
              },
              own,
            ),
          ),
        );
        for (const id of [...large, ...large]) await subject().create(observation(id), own);
        const pages = await walk(subject(), '/Observation?_include=Observation:patient', own);
        const found = pages.flatMap(idsOf);
        expect([new Set(found).size, found.length]).toEqual([10, 10]);
        expect(pages.length).toBe(3);
        for (const { text } of pages) expect(text.length).toBeLessThan(9 * 1024 * 1024);
      });
    });

    describe('a site whose resources are not all indexed', () => {
      test('is the reported reason for search, count, condition and bundle with a new parameter; other requests are answered', async () => {
        const { site: behind, token: own } = await subject().newSite();
        const ask = (path: string) => subject().call('GET', path, { token: own });
        const patient = await subject().create({ resourceType: 'Patient' }, own);
        await subject().client.query('insert into search_behind (site_id, generation) values ($1, 1)', [behind]);
        for (const query of [
          'Observation?date=2026',
          'Observation?category=x&_summary=count',
          `Observation?patient=${patient}&status:not=final`,
          'DiagnosticReport?status=final',
          'Patient?family=x',
          'Patient?name:exact=x',
          'Patient?gender:missing=true',
          'Patient?gender:missing=false',
        ]) {
          const reply = await ask(`/${query}`);
          expectOutcome(reply, 400, 'not-supported');
          expect(reply.text).toContain('npm run reindex');
        }
        for (const query of [
          'Patient?name=x',
          'Patient?birthdate=gt1900',
          'Patient?gender:not=male',
          'Observation?subject=x',
          'Observation?code=x',
        ])
          expect((await ask(`/${query}`)).status, query).toBe(200);
        const body = observation('', { subject: undefined });
        const conditional = await subject().call('POST', '/Observation', {
          token: own,
          body,
          headers: { 'if-none-exist': 'category=x' },
        });
        expectOutcome(conditional, 400, 'not-supported');
        await subject().client.query('update search_behind set generation = 2 where site_id = $1', [behind]);
        expect((await ask('/Observation?date=2026')).status).toBe(200);
      });
    });

    describe('Groups', () => groupCases(subject));

    describe('Programs for exports', () => exportCases(subject));

    describe('$docref', () => docrefCases(subject));

    describe('Profiles', () => profileCases(subject));

    describe('Provenance', () => provenanceCases(subject));

    describe('parameters of other resources', () => relatedCases(subject));

    describe('conditions', () => {
      test('with a patient, a code and an instant find stored resources, alone and in one transaction', async () => {
        const body = observation(ids['ann'] ?? '', {
          effectiveDateTime: '2026-05-01T10:00:00+02:00',
          category: [category('imaging')],
        });
        const query = `patient=${ids['ann']}&code=8867-4&category=imaging&status:not=amended&date=2026-05-01T08:00:00Z`;
        const create = () =>
          subject().call('POST', '/Observation', { token, body, headers: { 'if-none-exist': query } });
        const all = await Promise.all([create(), create(), create()]);
        expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 201]);
        const entry = {
          resource: body,
          request: { method: 'POST', url: 'Observation', ifNoneExist: query.replace('imaging', 'other') },
        };
        const other = { ...entry, resource: { ...body, category: [category('other')] } };
        const transaction = await subject().call('POST', '', {
          token,
          body: { resourceType: 'Bundle', type: 'transaction', entry: [other, other] },
        });
        expect(transaction.status, transaction.text).not.toBe(500);
        const found = await get(`/Observation?category=other`);
        expect(idsOf(found).length).toBeLessThan(2);
      });

      test.each(['date=2026-05-01', 'date=2026-05-01T10:00', 'date=ge2026-05-01T10:00:00Z'])(
        'with %s are refused: what they mean would change',
        async (query) => {
          const headers = { 'if-none-exist': query };
          const reply = await subject().call('POST', '/Observation', {
            token,
            body: observation(ids['ann'] ?? ''),
            headers,
          });
          expectOutcome(reply, 400, 'value', 'http.date');
        },
      );
    });

    test(':missing and dates follow an update', async () => {
      const body = observation(ids['bob'] ?? '', { effectiveDateTime: '2031-01-01', category: [category('once')] });
      const id = await subject().create(body, token);
      const found = async (query: string) => idsOf(await get(`/Observation?_id=${id}&${query}`)).length;
      expect([await found('date=2031'), await found('date:missing=true'), await found('category=once')]).toEqual([
        1, 0, 1,
      ]);
      const { effectiveDateTime: _, category: __, ...rest } = body;
      await subject().call('PUT', `/Observation/${id}`, { token, body: { ...rest, id } });
      expect([await found('date=2031'), await found('date:missing=true'), await found('category=once')]).toEqual([
        0, 1, 0,
      ]);
      await subject().call('PUT', `/Observation/${id}`, { token, body: { ...rest, id, effectiveDateTime: '2032' } });
      expect([await found('date=2032'), await found('date:missing=true')]).toEqual([1, 0]);
    });

    test('results, reports and documents of HL7 messages are found by category', async () => {
      const key = await createApiKey(subject().client, { site, protocols: ['hl7'] });
      const hl7Token = await getToken(subject().gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
      const send = async (segments: readonly string[]): Promise<void> => {
        const answer = await fetch(`${subject().gateway.hl7BaseUrl}/hl7/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${hl7Token}`, 'content-type': 'text/plain' },
          body: segments.map((segment) => `${segment}\r`).join(''),
        });
        expect(answer.status, await answer.text()).toBe(200);
      };
      const header = (type: string) => `MSH|^~\\&|LAB|A|GW|B|20260101120000+0000||${type}|${randomUUID()}|P|2.5.1`;
      const pid = 'PID|1||CAT1^^^LAB^MR||Categories^Ann||19700101|F';
      const order = (number: number, section: string) => [
        `OBR|${number}||F${number}^LAB|c${number}^Code^L|||20260101${section === '' ? '' : `${'|'.repeat(17)}${section}`}`,
        `OBX|1|NM|c${number}^Code^L||${number}||||||F`,
      ];
      await send([header('ORU^R01^ORU_R01'), pid, ...order(1, 'CH'), ...order(2, 'RAD'), ...order(3, '')]);
      await send([
        header('MDM^T02^MDM_T02'),
        'EVN||20260101120000+0000',
        pid,
        'TXA|1|DS|TX|||||||||D1^LAB',
        'OBX|1|TX|||A note||||||F',
      ]);
      const [about = ''] = idsOf(await get('/Patient?name=categories'));
      const codes = async (query: string): Promise<string[]> =>
        ((await get(`/${query}&patient=${about}`)).body['entry'] as Body[] | undefined)?.map(
          ({ resource }) => (resource.code ?? resource.type).coding[0].code,
        ) ?? [];
      expect(await codes('Observation?category=laboratory')).toEqual(['c1']);
      expect(await codes('Observation?category=imaging')).toEqual(['c2']);
      expect(await codes('Observation?category:missing=true')).toEqual(['c3']);
      expect(await codes('DiagnosticReport?category=LAB')).toEqual(['c1']);
      expect(await codes('DiagnosticReport?category=http://loinc.org|LP29684-5')).toEqual(['c2']);
      expect(await codes('DocumentReference?category=clinical-note')).toEqual(['DS']);
    });

    test('the CapabilityStatement names the active set, the includes and the modifiers', async () => {
      const { body } = await subject().call('GET', '/metadata', { token: null });
      const [rest] = body['rest'] as [Body];
      expect(rest['documentation']).toContain('US Core');
      const of = (type: string): Body => (rest['resource'] as Body[]).find((one) => one['type'] === type) ?? {};
      expect(of('Observation')['searchInclude']).toEqual(['Observation:patient', 'Observation:subject']);
      expect(of('Patient')).not.toHaveProperty('searchInclude');
      const names = (of('Observation')['searchParam'] as Body[]).map(({ name }) => name);
      expect(names).toEqual([
        '_id',
        '_lastUpdated',
        'patient',
        'code',
        '_tag',
        'subject',
        'category',
        'status',
        'date',
      ]);
      const status = (of('DiagnosticReport')['searchParam'] as Body[]).find(({ name }) => name === 'status');
      expect(status).toMatchObject({
        definition: 'http://hl7.org/fhir/SearchParameter/DiagnosticReport-status',
        documentation: expect.stringContaining('Modifiers: :missing, :not.'),
      });
    });
  },
);
