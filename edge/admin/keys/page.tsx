/** One API key: what it is, how to use it, why it was refused, and how it came to be so. */
import type { CheckedKey } from '../../../shared/oauth/jwks.ts';
import type { ChangeRow, KeyRow } from '../../store/admin-key.ts';
import type { FoundRefusal } from '../../store/admin-refusal.ts';
import type { Example } from './examples.ts';
import type { JwksFindings } from './rules.ts';
import { viewChange } from './view.ts';
import { prettyJson } from './fields.ts';
import { Refusals } from '../refusals/list.tsx';
import { Badge, Code, Copyable, Empty, Fact, KeyStatus, Table, When } from '../web/ui.tsx';

export interface KeyPageProps {
  readonly keyRow: KeyRow;
  readonly path: string;
  readonly refusalsPath: string;
  /** Null where the JWKS URI was not asked now. */
  readonly findings: JwksFindings | null;
  readonly problems: readonly string[];
  readonly examples: readonly Example[];
  readonly refusals: readonly FoundRefusal[];
  readonly changes: readonly ChangeRow[];
  readonly may: { readonly update: boolean; readonly disable: boolean };
}

const NONE = <span class="quiet">none</span>;

const listed = (items: readonly string[]) => (items.length === 0 ? NONE : items.join(', '));

/** `Patient read, write` for the two scopes of a type. */
const Scopes = ({ scopes }: { scopes: readonly string[] }) => {
  if (scopes.length === 0) return <Badge tone="warn">none: no token is issued</Badge>;
  const byType = Map.groupBy(scopes, (scope) => scope.slice(scope.indexOf('/') + 1, scope.indexOf('.')));
  return (
    <ul class="plain">
      {[...byType].map(([type, named]) => (
        <li>
          {type} <span class="quiet">{named.map((scope) => scope.slice(scope.indexOf('.') + 1)).join(', ')}</span>
        </li>
      ))}
    </ul>
  );
};

const Facts = ({ keyRow: key }: { keyRow: KeyRow }) => (
  <dl class="facts">
    <Fact name="Client ID">
      <Copyable text={key.client_id} label="the Client ID" />
    </Fact>
    <Fact name="Status">
      <KeyStatus status={key.status} />
    </Fact>
    <Fact name="Protocols">{listed(key.protocols)}</Fact>
    <Fact name="Allowed scopes">
      <Scopes scopes={key.allowed_scopes} />
    </Fact>
    <Fact name="Allowed audiences">
      {key.allowed_audiences.length === 0 ? (
        <span class="quiet">what the protocols allow</span>
      ) : (
        listed(key.allowed_audiences)
      )}
    </Fact>
    <Fact name="Token TTL">{key.token_ttl_seconds} s</Fact>
    <Fact name="Allowed IPs (MLLP)">{listed(key.allowed_ips)}</Fact>
    <Fact name="HL7 sender application">{key.hl7_sender_application ?? NONE}</Fact>
    <Fact name="HL7 sender facility">{key.hl7_sender_facility ?? NONE}</Fact>
    <Fact name="Changed">
      <When at={key.updated_at} /> (version {key.version})
    </Fact>
  </dl>
);

const FoundKeys = ({ keys }: { keys: readonly CheckedKey[] }) => (
  <Table label="Public keys found" head={['kid', 'Type', 'Size', 'Use', 'Usable']}>
    {keys.map(({ kid, type, size, use, usable, reason }) => (
      <tr>
        <th scope="row">{kid === undefined ? <span class="quiet">none</span> : <code>{kid}</code>}</th>
        <td>{type}</td>
        <td>{size === 0 ? '' : `${size} bit`}</td>
        <td>{use ?? ''}</td>
        <td>{usable ? <Badge tone="good">yes</Badge> : <Badge tone="bad">{reason ?? 'no'}</Badge>}</td>
      </tr>
    ))}
  </Table>
);

const Keys = ({ keyRow: key, findings, problems, path }: KeyPageProps) => (
  <section aria-labelledby="public-keys">
    <h2 id="public-keys">Public keys</h2>
    {key.jwks_uri === null ? null : (
      <p>
        <code>{key.jwks_uri}</code> <a href={`${path}?look=1#public-keys`}>Look at it now</a>
      </p>
    )}
    {problems.map((problem) => (
      <p>
        <Badge tone="bad">{problem}</Badge>
      </p>
    ))}
    {findings?.unreachable === undefined ? null : (
      <p>
        <Badge tone="warn">The JWKS URI cannot be used now: {findings.unreachable}</Badge>
      </p>
    )}
    {findings === null || findings.keys.length === 0 ? null : <FoundKeys keys={findings.keys} />}
  </section>
);

const Examples = ({ examples }: { examples: readonly Example[] }) => (
  <section aria-labelledby="examples">
    <h2 id="examples">Use this key</h2>
    <p class="quiet">
      Complete programs for this very key. They need its private half in <code>private.pem</code> (PKCS #8).
    </p>
    {examples.map(({ title, text }) => (
      <details>
        <summary>{title}</summary>
        <Code text={text} label={title} copy />
      </details>
    ))}
  </section>
);

const shown = (member: string, value: unknown): string => {
  if (value === null || value === undefined || value === '') return 'none';
  if (member === 'jwks') return prettyJson(JSON.stringify(value));
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const History = ({ changes }: { changes: readonly ChangeRow[] }) => (
  <section aria-labelledby="history">
    <h2 id="history">History</h2>
    {changes.length === 0 ? <Empty>Made without this console: nothing is recorded.</Empty> : null}
    {changes.map(viewChange).map(({ version, at, by, changed, before, after }) => (
      <details>
        <summary>
          Version {version}: {before === null ? 'created' : changed.join(', ')} by {by}, <When at={at} />
        </summary>
        <Table label={`What version ${version} changed`} head={['Field', 'Before', 'After']}>
          {changed.map((member) => (
            <tr>
              <th scope="row">{member}</th>
              <td class="value">{before === null ? '' : shown(member, before[member])}</td>
              <td class="value">{shown(member, after?.[member])}</td>
            </tr>
          ))}
        </Table>
      </details>
    ))}
  </section>
);

const Actions = ({ keyRow: key, path, may }: KeyPageProps) => {
  const next = key.status === 'active' ? 'disabled' : 'active';
  const maySwitch = next === 'disabled' ? may.disable : may.update;
  return (
    <div class="actions">
      {may.update ? (
        <a class="button" href={`${path}/edit`}>
          Edit
        </a>
      ) : null}
      {maySwitch ? (
        <form method="post" action={`${path}/status`}>
          <input type="hidden" name="version" value={String(key.version)} />
          <button class={next === 'disabled' ? 'danger' : ''} name="status" value={next}>
            {next === 'disabled' ? 'Disable' : 'Enable'}
          </button>
        </form>
      ) : null}
    </div>
  );
};

export const KeyPage = (props: KeyPageProps) => (
  <>
    <Actions {...props} />
    <Facts keyRow={props.keyRow} />
    <Keys {...props} />
    <Examples examples={props.examples} />
    <section aria-labelledby="refused">
      <h2 id="refused">Why was I refused?</h2>
      {props.refusals.length === 0 ? (
        <Empty>Nothing was refused in the last 90 days.</Empty>
      ) : (
        <Refusals items={props.refusals} />
      )}
      <p>
        <a href={props.refusalsPath}>All refusals of this key</a>
      </p>
    </section>
    <History changes={props.changes} />
  </>
);
