/** The sums of the audit by actor and by patient. */
import type { Child } from 'hono/jsx';

import { type ActorSumRow, MAX_SUMMED, MAX_SUMS, type PatientSumRow } from '../../store/admin-audit.ts';
import { listedName } from '../attention/person.ts';
import { Table, When } from '../web/ui.tsx';
import { Actor, addressOf, type AuditLinks, Linked, OfPatient, pageOf, type Query } from './links.tsx';
import { actorOf } from './view.ts';

/** The limits that the sums reached. */
const Cut = ({ sums }: { sums: readonly { readonly total: number }[] }) => (
  <>
    {(sums[0]?.total ?? 0) < MAX_SUMMED ? null : (
      <p class="quiet">
        Only the newest {MAX_SUMMED.toLocaleString('en')} rows were added up. Choose a shorter time to add up all.
      </p>
    )}
    {sums.length < MAX_SUMS ? null : <p class="quiet">Only the {MAX_SUMS} with the most rows are listed.</p>}
  </>
);

interface SumsProps<Sum> {
  readonly sums: readonly Sum[];
  readonly address: Query;
  readonly links: AuditLinks;
}

interface TableProps<Sum> {
  readonly kind: 'actor' | 'patient';
  readonly sums: readonly Sum[];
  readonly nameOf: (sum: Sum) => Child;
  /** The number of the other kind. */
  readonly othersOf: (sum: Sum) => Child;
}

function SumTable<Sum extends ActorSumRow | PatientSumRow>({ kind, sums, nameOf, othersOf }: TableProps<Sum>) {
  const [first, other] = kind === 'actor' ? ['Actor', 'Patients'] : ['Patient', 'Actors'];
  return (
    <>
      <Table
        label={`Rows by ${kind}`}
        rows={sums}
        columns={{
          [first]: nameOf,
          Rows: (sum) => <td class="number">{sum.accesses.toLocaleString('en')}</td>,
          Seen: (sum) => <td class="number">{sum.seen.toLocaleString('en')}</td>,
          Changed: (sum) => <td class="number">{sum.changed.toLocaleString('en')}</td>,
          [other]: (sum) => <td class="number">{othersOf(sum)}</td>,
          First: (sum) => <When at={sum.first_at} />,
          Last: (sum) => <When at={sum.last_at} />,
        }}
      />
      <Cut sums={sums} />
    </>
  );
}

export const ByActor = ({ sums, address, links }: SumsProps<ActorSumRow>) => (
  <SumTable
    kind="actor"
    sums={sums}
    nameOf={(row) => <Actor {...{ row, address, links }} />}
    othersOf={(row) =>
      row.patients === 0 || row.actor_kind === 'gateway' ? (
        row.patients
      ) : (
        <a href={addressOf(links, address, { actor: actorOf(row), view: 'patients' })}>
          {row.patients.toLocaleString('en')}
        </a>
      )
    }
  />
);

export const ByPatient = ({ sums, address, links }: SumsProps<PatientSumRow>) => (
  <SumTable
    kind="patient"
    sums={sums}
    nameOf={({ id, name }) => {
      const shown = name === null ? '' : listedName(JSON.parse(name));
      return (
        <>
          <Linked href={pageOf(links, 'Patient', id)}>
            {shown === '' ? <code>{id}</code> : <span title={id}>{shown}</span>}
          </Linked>
          {/* Several patients may have one name. */}
          {shown === '' ? null : <small class="quiet"> …{id.slice(-6)}</small>}
          <OfPatient {...{ id, address, links }} />
        </>
      );
    }}
    othersOf={({ id, actors }) => (
      <a href={addressOf(links, address, { patient: id, view: 'actors' })}>{actors.toLocaleString('en')}</a>
    )}
  />
);
