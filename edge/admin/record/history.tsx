/** The history on the page of a record: author, time, and each changed member before and after. */
import type { ChangeRow } from '../../store/change.ts';
import { Empty, Section, Table, When } from '../web/ui.tsx';
import { viewChange } from './change.ts';
import { textOfMember } from './fields.tsx';
import type { Members } from '../../members/member.ts';

export const History = ({ members, changes }: { members: Members; changes: readonly ChangeRow[] }) => (
  <Section id="history" title="History">
    {changes.length === 0 ? <Empty>No history: this record was created in the database.</Empty> : null}
    {changes
      .map((change) => viewChange(members, change))
      .map(({ version, at, by, changed, before, after }) => (
        <details>
          <summary>
            Version {version}:{' '}
            {before === null ? 'created' : changed.map((name) => members[name]?.label ?? name).join(', ')} by {by},{' '}
            <When at={at} />
          </summary>
          <Table
            label={`What version ${version} changed`}
            rows={changed}
            columns={{
              Field: (name) => members[name]?.label ?? name,
              Before: (name) => (
                <td class="value">{before === null ? '' : textOfMember(members[name], before[name])}</td>
              ),
              After: (name) => <td class="value">{textOfMember(members[name], after[name])}</td>,
            }}
          />
        </details>
      ))}
  </Section>
);
