/** The pages of code tables: the list with the codes that they miss, and one table with its draft and its versions. */
import { type Fault, type Place, printPlace } from '../../../shared/fault.ts';
import { senderText } from '../../../shared/hl7/sender-text.ts';
import type { CodeTableRelease, CodeTableRow, ImportProgress, TableRow } from '../../store/admin-code-table.ts';
import { EQUIVALENCES } from '../../store/code-table.ts';
import type { List } from '../api/cursor.ts';
import { Confirm } from '../web/confirm.tsx';
import { counted } from '../web/counted.ts';
import {
  Badge,
  Fact,
  Faults,
  Filter,
  Input,
  Notice,
  OfSite,
  Pager,
  Refreshed,
  ReleaseComment,
  Search,
  Section,
  Select,
  Table,
  When,
} from '../web/ui.tsx';
import type { CodeMissView } from './operations.ts';

const Live = ({ version }: { version: number | null }) =>
  version === null ? <Badge tone="plain">off</Badge> : <Badge tone="good">version {version}</Badge>;

const Coded = ({ code, system }: { code: string; system: string }) => (
  <>
    <code>{code}</code> <span class="quiet">{system}</span>
  </>
);

/** The fields of a single row are on the page. */
const isOfRow = ({ at = '' }: Place): boolean => at.startsWith('rows[');

/** The faults of a form, each at its place in the file. */
const NotSaved = ({ fault }: { fault: Fault | undefined }) =>
  fault === undefined ? null : (
    <Notice tone="bad">
      <p>Not saved: {fault.message}.</p>
      <Faults
        of={fault.issues.map((issue) => (isOfRow(issue) ? issue.message : `${printPlace(issue)}: ${issue.message}`))}
      />
    </Notice>
  );

/** The fields of a form that was not saved. */
type Given = Readonly<Record<string, string>>;

const Target = ({ given }: { given: Given }) => (
  <>
    <Input
      label="Target system"
      class="mono"
      name="targetSystem"
      value={given['targetSystem'] ?? 'http://snomed.info/sct'}
      autocomplete="off"
    />
    <Input label="Target code" class="mono" name="targetCode" value={given['targetCode']} autocomplete="off" />
    <Input label="Text of the target" name="display" value={given['display']} autocomplete="off" />
    <Select
      name="equivalence"
      label="The target is"
      options={EQUIVALENCES.map((value) => ({ value, label: value }))}
      value={given['equivalence'] ?? 'equivalent'}
    />
  </>
);

interface MissFormProps extends Pick<CodeTablesProps, 'tables' | 'path'> {
  readonly miss: CodeMissView;
  /** Undefined if the form of another code, or none, was not saved. */
  readonly given: Given | undefined;
}

const MissForm = ({ miss, tables, path, given }: MissFormProps) => (
  <details open={given !== undefined}>
    <summary>Map {miss.code} …</summary>
    <form class="filter" method="post" action={`${path}/map`}>
      <input type="hidden" name="system" value={miss.system} />
      <input type="hidden" name="code" value={miss.code} />
      <Select
        name="table"
        label="Table"
        options={tables.map(({ table_id: value, name: label }) => ({ value, label }))}
        value={given?.['table'] ?? tables[0]?.table_id ?? ''}
      />
      <Target given={given ?? {}} />
      <button class="small">Add to the draft</button>
    </form>
  </details>
);

interface PageProps {
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
  readonly mayChange: boolean;
  readonly fault?: Fault | undefined;
  readonly given: Given;
}

export interface CodeTablesProps extends PageProps {
  readonly tables: readonly CodeTableRow[];
  readonly misses: List<CodeMissView>;
}

export const CodeTables = ({ tables, misses, query, path, mayChange, fault, given }: CodeTablesProps) => (
  <>
    <p class="lead">
      A code table adds codes of other coding systems to the codes of messages, such as SNOMED CT to those of a
      laboratory. The sender’s code stays first.
    </p>
    <NotSaved fault={fault} />
    <Table
      label="Code tables"
      rows={tables}
      empty="This site has no code tables."
      columns={{
        Name: (table) => <a href={`${path}/${table.table_id}`}>{table.name}</a>,
        Live: (table) => <Live version={table.live} />,
        'Rows of the draft': (table) => table.rows.toLocaleString('en'),
        Draft: (table) => (table.is_changed ? <Badge tone="warn">not live</Badge> : 'unchanged'),
      }}
    />
    {mayChange ? (
      <form class="filter" method="post" action={path}>
        <OfSite />
        <Input
          label="Name of a new table"
          name="name"
          value={given['name']}
          maxlength={100}
          required
          autocomplete="off"
        />
        <button>Create</button>
      </form>
    ) : null}
    <Section id="misses" title="Codes without a row">
      <Table
        label="Codes without a row"
        rows={misses.items}
        empty="The live tables miss no code of a message in their coding systems."
        columns={{
          Code: (miss) => <Coded {...miss} />,
          Text: (miss) => miss.text,
          Messages: (miss) => miss.messages.toLocaleString('en'),
          Last: (miss) => <When at={miss.lastAt} />,
          Sender: (miss) => senderText(miss),
          Row: (miss) =>
            mayChange ? (
              <MissForm
                {...{ miss, tables, path }}
                given={given['system'] === miss.system && given['code'] === miss.code ? given : undefined}
              />
            ) : null,
        }}
      />
      <Pager path={path} query={query} next={misses.next} />
    </Section>
  </>
);

export interface CodeTableProps extends PageProps {
  readonly table: CodeTableRow;
  readonly releases: readonly CodeTableRelease[];
  readonly rows: List<TableRow>;
  readonly importing?: ImportProgress | undefined;
}

/** Versions that a person can choose: the draft, and those that were live. */
const versionsOf = ({ draft }: CodeTableRow, releases: readonly CodeTableRelease[]): number[] => [
  ...new Set([draft, ...releases.flatMap(({ version }) => version ?? [])]),
];

const ReleaseForm = ({
  table,
  releases,
  path,
  given,
}: Pick<CodeTableProps, 'table' | 'releases' | 'path' | 'given'>) => {
  const versions = versionsOf(table, releases).filter((version) => version !== table.live);
  return (
    <form class="filter" method="post" action={`${path}/release`}>
      <input type="hidden" name="edits" value={`${table.edits}`} />
      <Select
        name="version"
        label="Make live"
        options={[
          ...versions.map((version) => ({
            value: `${version}`,
            label: version === table.draft ? 'the draft' : `version ${version}`,
          })),
          ...(table.live === null ? [] : [{ value: '', label: 'none: switch the table off' }]),
        ]}
        value={given['version'] ?? `${table.draft}`}
      />
      <ReleaseComment value={given['comment']} />
      <button>Make live</button>
    </form>
  );
};

/** An import of 100,000 rows takes some 10 s. */
const IMPORT_REFRESH_SECONDS = 2;

/** Progress of a file that the command line or a program imports in parts. */
const Importing = ({ rows, part, parts, at }: ImportProgress) => (
  <Notice tone="plain">
    <p>
      An import stores its rows: {counted(rows, 'row')}, part {part} of {parts}. Last part: <When at={at} />.
    </p>
    <p>The draft changes with the last part. If no further part is sent, the rows are deleted after a day.</p>
  </Notice>
);

const NameForms = ({ table, path, given }: Pick<CodeTableProps, 'table' | 'path' | 'given'>) => (
  <Section id="table" title="Name and deletion">
    <form class="filter" method="post" action={`${path}/rename`}>
      <Input label="Name" name="name" value={given['name'] ?? table.name} maxlength={100} required autocomplete="off" />
      <button class="secondary">Rename</button>
    </form>
    {table.live === null ? (
      <Confirm label="Delete">
        <p>The table is deleted with its draft and its versions. Stored resources keep the codes that it added.</p>
        <form method="post" action={`${path}/delete`}>
          <input type="hidden" name="edits" value={`${table.edits}`} />
          <button class="danger">Delete the table</button>
        </form>
      </Confirm>
    ) : (
      <p class="quiet">To delete the table, first make none of its versions live.</p>
    )}
  </Section>
);

const hiddenOf = (row: TableRow) =>
  (['system', 'code', 'application', 'facility'] as const).map((name) => (
    <input type="hidden" name={name} value={row[name]} />
  ));

export const CodeTable = (props: CodeTableProps) => {
  const { table, releases, rows, query, path, mayChange, fault, importing, given } = props;
  const version = Number(query['version'] ?? table.draft);
  const isDraft = version === table.draft;
  const of = new URLSearchParams({ version: `${version}` }).toString();
  const state = (
    <>
      <dl class="facts">
        <Fact name="Messages are read by">
          <Live version={table.live} />
        </Fact>
        <Fact name="Draft">
          {counted(table.rows, 'row')}, {table.is_changed ? 'not live' : 'unchanged'}
        </Fact>
      </dl>
      {importing === undefined ? null : <Importing {...importing} />}
    </>
  );
  return (
    <>
      {importing === undefined ? (
        <section id="state">{state}</section>
      ) : (
        <Refreshed id="state" seconds={IMPORT_REFRESH_SECONDS}>
          {state}
        </Refreshed>
      )}
      <NotSaved fault={fault} />
      {mayChange ? (
        <section>
          <ReleaseForm {...{ table, releases, path, given }} />
        </section>
      ) : null}
      <Section id="rows" title={isDraft ? 'Rows of the draft' : `Rows of version ${version}`}>
        <Filter label="Rows">
          <Search label="Code or text" value={query['q'] ?? ''} />
          <Select
            name="version"
            label="Version"
            options={versionsOf(table, releases).map((each) => ({
              value: `${each}`,
              label: each === table.draft ? 'draft' : `${each}`,
            }))}
            value={`${version}`}
          />
        </Filter>
        <Table
          label="Rows"
          rows={rows.items}
          empty="No rows."
          columns={{
            Code: (row) => <Coded {...row} />,
            Sender: (row) => senderText(row),
            Target: (row) => <Coded code={row.targetCode} system={row.targetSystem} />,
            Text: (row) => row.display,
            'The target is': (row) => row.equivalence,
            Change: (row) =>
              mayChange && isDraft ? (
                <form method="post" action={`${path}/remove`}>
                  {hiddenOf(row)}
                  <button class="secondary small" aria-label={`Remove ${row.code}`}>
                    Remove
                  </button>
                </form>
              ) : null,
          }}
        />
        <Pager path={path} query={query} next={rows.next} />
        <p>
          <a href={`${path}/table.csv?${of}`}>Download as CSV</a>{' '}
          <a href={`${path}/concept-map.json?${of}`}>Download as ConceptMap</a>
        </p>
      </Section>
      {mayChange ? (
        <>
          <Section id="set" title="Set a row">
            <form class="filter" method="post" action={`${path}/set`}>
              <Input
                label="Coding system"
                class="mono"
                name="system"
                value={given['system'] ?? 'L'}
                autocomplete="off"
              />
              <Input label="Code" class="mono" name="code" value={given['code']} required autocomplete="off" />
              <Input label="Only of MSH-3" name="application" value={given['application']} autocomplete="off" />
              <Input label="Only of MSH-4" name="facility" value={given['facility']} autocomplete="off" />
              <Target given={given} />
              <button>Set</button>
            </form>
          </Section>
          <Section id="import" title="Import">
            <form method="post" action={`${path}/import`}>
              <div class="field">
                <label for="file">CSV or ConceptMap, which replaces the draft</label>
                <textarea id="file" name="file" rows={8} class="mono" spellcheck={false} aria-describedby="file-hint">
                  {given['file']}
                </textarea>
                <p class="hint" id="file-hint">
                  The columns are system, code, application, facility, targetSystem, targetCode, display and
                  equivalence. For more than 2 MiB use npm run admin -- code-table import.
                </p>
              </div>
              <button class="secondary">Import</button>
            </form>
          </Section>
        </>
      ) : null}
      <Section id="releases" title="Live versions">
        <Table
          label="Live versions"
          rows={releases}
          empty="No version was live yet."
          columns={{
            From: (release) => <When at={release.at} />,
            Version: (release) => release.version ?? 'off',
            By: (release) => release.by,
            Why: (release) => release.comment,
          }}
        />
      </Section>
      {mayChange ? <NameForms {...{ table, path, given }} /> : null}
    </>
  );
};
