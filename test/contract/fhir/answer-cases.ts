/**
 * The limit of an answer: 16 MiB of resources from all its reads, and the first resource always fits. A Bundle that also writes or is large
 * has 8 MiB, and 1 MiB of what its conditional creates find.
 */
import { beforeAll, expect, test } from 'vitest';

import { type Body, expectOutcome, linkOf, patient, type Reply, type Subject } from './subject.ts';

const DOCUMENTS = 20;
const DOCUMENT_LENGTH = 1_000_000;
/** As many documents as fit, without what is around them. */
const fittingIn = (mebibytes: number): number => Math.floor((mebibytes * 1024 * 1024) / (DOCUMENT_LENGTH + 1000));
const [FITTING, FITTING_SHORT, FITTING_FOUND] = [fittingIn(16), fittingIn(8), fittingIn(1)];

export function answerCases(subject: () => Subject): void {
  let token: string;
  let site: string;
  let subjectId: string;
  let documents: string[];

  beforeAll(async () => {
    ({ token, site } = await subject().newSite());
    subjectId = await subject().create(patient('answer'), token);
    documents = [];
    for (let n = 0; n < DOCUMENTS; n += 1) documents.push(await subject().create(documentOf(n), token));
  });

  const documentOf = (n: number): Body => ({
    resourceType: 'DocumentReference',
    status: 'current',
    subject: { reference: `Patient/${subjectId}` },
    content: [
      {
        attachment: { contentType: 'text/plain', data: Buffer.alloc((DOCUMENT_LENGTH * 3) / 4, n).toString('base64') },
      },
    ],
  });
  const send = (type: string, entry: Body[]) =>
    subject().call('POST', '', { token, body: { resourceType: 'Bundle', type, entry } });
  const get = (url: string): Body => ({ request: { method: 'GET', url } });
  const entriesOf = (reply: Reply): Body[] => {
    expect(reply.status, reply.text.slice(0, 2_000)).toBe(200);
    return reply.body['entry'] as Body[];
  };
  const statusesOf = (entries: readonly Body[]) => entries.map(({ response }) => String(response.status).slice(0, 3));
  const matchesIn = (entry: Body | undefined): string[] =>
    ((entry?.['resource']?.entry ?? []) as Body[]).map(({ resource }) => String(resource.id));
  const expectTooCostly = (entry: Body | undefined): void => {
    expect(entry).not.toHaveProperty('resource');
    expect(entry?.['response'].status).toBe('422 Unprocessable Content');
    expect(entry?.['response'].outcome.issue).toMatchObject([{ severity: 'error', code: 'too-costly' }]);
  };
  const audited = async (reply: Reply): Promise<string[]> => {
    const { rows } = await subject().client.query<{ ids: string[] }>(
      'select ids from audit where request_id = $1 and site_id = $2',
      [reply.headers.get('x-request-id'), site],
    );
    return rows.flatMap(({ ids }) => ids);
  };

  test('a batch keeps the answers of the reads that fit; those behind them get too-costly, and are not in the audit', async () => {
    const reply = await send('batch', [
      ...documents.map((id) => get(`DocumentReference/${id}`)),
      get(`Patient/${subjectId}`),
    ]);
    const entries = entriesOf(reply);
    const shown = entries.slice(0, FITTING);
    expect(statusesOf(shown)).toEqual(shown.map(() => '200'));
    expect(shown.map(({ resource }) => resource.id)).toEqual(documents.slice(0, FITTING));
    for (const entry of entries.slice(FITTING)) expectTooCostly(entry);
    expect(reply.text.length).toBeLessThan(17 * 1024 * 1024);
    expect((await audited(reply)).toSorted()).toEqual(documents.slice(0, FITTING).toSorted());
  });

  test('a page in a batch contains the resources that fit, and its next link leads to the rest', async () => {
    const search = `DocumentReference?patient=${subjectId}&_count=500`;
    const [first, second, third, unknown] = entriesOf(
      await send('batch', [
        get(`${search}&_sort=-_lastUpdated`),
        get(search),
        get(search),
        get('DocumentReference?_id=00000000-0000-7000-8000-000000000000'),
      ]),
    );
    // A page alone has 8 MiB.
    expect(matchesIn(first)).toEqual(documents.toReversed().slice(0, 8));
    expect(matchesIn(second)).toEqual(documents.slice(0, 8));
    expectTooCostly(third);
    expect(unknown?.['resource']).toMatchObject({ type: 'searchset', total: 0 });

    const reads = documents.slice(0, 5).map((id) => get(`DocumentReference/${id}`));
    const short = entriesOf(await send('batch', [get(search), ...reads, get(search)])).at(-1);
    expect(matchesIn(short)).toEqual(documents.slice(0, FITTING - 13));
    const links = (short?.['resource'].link ?? []) as Body[];
    const link = links.find(({ relation }) => relation === 'next');
    const rest = await subject().call('GET', String(link?.['url']), { token });
    expect((rest.body['entry'] as Body[])[0]?.['resource'].id).toBe(documents[FITTING - 13]);
  });

  test('versions, histories, everything of a patient and searches count as reads do', async () => {
    const [id = ''] = documents;
    const large = [
      'DocumentReference/_history',
      `Patient/${subjectId}/$everything?_type=DocumentReference`,
      `DocumentReference?patient=${subjectId}&_count=500`,
    ].map(get);
    const small = [
      `DocumentReference/${id}/_history/1`,
      `DocumentReference/${id}/_history`,
      'DocumentReference?_count=1&_sort=-_lastUpdated',
    ].map(get);
    const full = documents.slice(0, FITTING).map((one) => get(`DocumentReference/${one}`));
    const behind = entriesOf(await send('batch', [...full, ...large, ...small])).slice(FITTING);
    expect(behind).toHaveLength(6);
    for (const entry of behind) expectTooCostly(entry);
    // Their own resources count too. Two large pages fill an answer, and so do sixteen small ones.
    const six = Array.from({ length: 6 }, () => small).flat();
    for (const many of [large, six]) {
      const reply = await send('batch', many);
      expect(entriesOf(reply)[0]?.['response'].status).toBe('200 OK');
      expectTooCostly(entriesOf(reply).at(-1));
      expect(reply.text.length).toBeLessThan(17 * 1024 * 1024);
    }
  });

  test('a batch writes although its reads do not fit', async () => {
    const entries = entriesOf(
      await send('batch', [
        ...documents.map((id) => get(`DocumentReference/${id}`)),
        { resource: patient('answer-written'), request: { method: 'POST', url: 'Patient' } },
      ]),
    );
    expect(entries.at(-1)?.['response'].status).toBe('201 Created');
    expect(statusesOf(entries).filter((status) => status === '200')).toHaveLength(FITTING_SHORT);
    const found = await subject().call('GET', '/Patient?identifier=answer-written', { token });
    expect(found.body['total']).toBe(1);
  });

  test('a Bundle of more than 64 KiB has room for fewer reads', async () => {
    const [first, ...others] = documents.map((id) => get(`DocumentReference/${id}`));
    const entries = entriesOf(await send('batch', [{ ...first, resource: patient('x'.repeat(70_000)) }, ...others]));
    expect(statusesOf(entries).filter((status) => status === '200')).toHaveLength(FITTING_SHORT);
    for (const entry of entries.slice(FITTING_SHORT)) expectTooCostly(entry);
  });

  test('a transaction with reads that do not fit writes nothing; a transaction with reads that fit is committed', async () => {
    const post = { resource: patient('answer-undone'), request: { method: 'POST', url: 'Patient' } };
    const reads = documents.map((id) => get(`DocumentReference/${id}`));
    const total = async () =>
      (await subject().call('GET', '/Patient?identifier=answer-undone', { token })).body['total'];

    const refused = await send('transaction', [post, ...reads.slice(0, FITTING_SHORT + 1)]);
    expectOutcome(refused, 422, 'too-costly');
    expect(refused.headers.get('retry-after')).toBeNull();
    expect([await total(), await audited(refused)]).toEqual([0, []]);

    const entries = entriesOf(await send('transaction', [post, ...reads.slice(0, FITTING_SHORT)]));
    expect(new Set(statusesOf(entries))).toEqual(new Set(['201', '200']));
    expect(await total()).toBe(1);
  });

  test.each(['batch', 'transaction'])(
    'a %s of conditional creates that find their resources shows those that fit, and says of all that they were found',
    async (type) => {
      const creates = documents.map((_, n) => ({
        resource: { ...documentOf(n), content: [{ attachment: { title: 'other' } }] },
        request: { method: 'POST', url: 'DocumentReference', ifNoneExist: `_id=${documents[n]}` },
      }));
      const entries = entriesOf(await send(type, creates));
      expect(statusesOf(entries)).toEqual(creates.map(() => '200'));
      expect(entries.map(({ response }) => String(response.location).split('/').at(-3))).toEqual(documents);
      const shown = entries.flatMap(({ resource }) => (resource === undefined ? [] : [resource as Body]));
      expect(shown).toHaveLength(FITTING_FOUND);
      for (const resource of shown) expect(resource['content'][0].attachment).not.toHaveProperty('title');
    },
  );

  test('a single request has only the limit of its page', async () => {
    const reply = await subject().call('GET', `/DocumentReference?patient=${subjectId}&_count=500`, { token });
    expect((reply.body['entry'] as Body[]).length).toBe(8);
    expect(linkOf(reply, 'next')).toBeDefined();
  });

  test('_pretty changes only the white space of a large answer', async () => {
    const body = {
      resourceType: 'Bundle',
      type: 'batch',
      entry: documents.slice(0, 3).map((id) => get(`DocumentReference/${id}`)),
    };
    const [plain, pretty] = [
      await subject().call('POST', '', { token, body }),
      await subject().call('POST', '/?_pretty=true', { token, body }),
    ];
    expect(pretty.text).toBe(`${JSON.stringify(plain.body, null, 2)}\n`);
    expect(pretty.headers.get('content-type')).toBe(plain.headers.get('content-type'));
  });
}
