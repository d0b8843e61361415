/** Why requests were refused: the exact reason, and what to change. */
import { hintFor, REFUSALS } from '../../refusals.ts';
import type { FoundRefusal } from '../../store/admin-refusal.ts';
import type { List } from '../api/cursor.ts';
import { Empty, Filter, Pager, Search, Select, When } from '../web/ui.tsx';

const CHECKS = REFUSALS.map(({ code, label }) => ({ value: code, label }));

const SURFACES = { token: 'Token request', mllp: 'MLLP message' } as const;

export const Refusals = ({ items, keyPath }: { items: readonly FoundRefusal[]; keyPath?: string }) => (
  <ol class="refusals">
    {items.map((refusal) => (
      <li>
        <p class="reason">{refusal.reason}</p>
        {hintFor(refusal.code) === null ? null : <p class="hint">{hintFor(refusal.code)}</p>}
        <p class="meta">
          <When at={refusal.at} />
          <span>{SURFACES[refusal.surface]}</span>
          {keyPath === undefined ? null : <a href={`${keyPath}/${refusal.client_id}`}>{refusal.key_name}</a>}
          <span>
            from <code>{refusal.source_address}</code>
          </span>
          <span>
            check <code>{refusal.code}</code>
          </span>
          <span>
            request <code>{refusal.request_id}</code>
          </span>
        </p>
      </li>
    ))}
  </ol>
);

interface RefusalPageProps {
  readonly list: List<FoundRefusal>;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
  readonly keyPath: string;
}

export const RefusalPage = ({ list, query, path, keyPath }: RefusalPageProps) => (
  <>
    <p class="lead">
      The caller of a refused request is told little, so that nobody learns about keys that are not theirs. Here is what
      really happened: the newest 500 of each API key, for as long as the settings of the site say.
    </p>
    <Filter label="Refusals">
      {(query['clientId'] ?? '') === '' ? null : <input type="hidden" name="clientId" value={query['clientId']} />}
      <Search label="Reason, address or request id" value={query['q'] ?? ''} />
      <Select
        name="surface"
        label="Surface"
        value={query['surface'] ?? ''}
        options={[
          { value: '', label: 'any' },
          { value: 'token', label: 'token' },
          { value: 'mllp', label: 'MLLP' },
        ]}
      />
      <Select
        name="code"
        label="Check"
        value={query['code'] ?? ''}
        options={[{ value: '', label: 'any' }, ...CHECKS]}
      />
    </Filter>
    {(query['clientId'] ?? '') === '' ? null : (
      <p>
        Only those of <a href={`${keyPath}/${query['clientId']}`}>one API key</a>. <a href={path}>Show all</a>
      </p>
    )}
    {list.items.length === 0 ? <Empty>Nothing was refused.</Empty> : <Refusals items={list.items} keyPath={keyPath} />}
    <Pager path={path} query={query} next={list.next} />
  </>
);
