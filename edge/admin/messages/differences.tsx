/** The changes of resources, element by element. */
import { pretty } from '../../../shared/pretty-json.ts';
import type { ResourceDifference } from './message-replay.ts';
import type { ChangeView } from './view.ts';
import { Badge, Table } from '../web/ui.tsx';

/** An element may hold a whole document. */
const MAX_SHOWN = 2000;

const Json = ({ json }: { json: string | null }) => {
  if (json === null) return <span class="quiet">nothing</span>;
  if (json.length > MAX_SHOWN) {
    return (
      <>
        {json.slice(0, MAX_SHOWN)} … ({json.length.toLocaleString('en')} characters)
      </>
    );
  }
  return <>{/^[[{]/.test(json) ? pretty(json).trimEnd() : json}</>;
};

interface DifferencesProps {
  readonly label: string;
  readonly resources: readonly ResourceDifference[];
}

/** The cell of a value. A component would not be one of the table. */
const valueCell = (json: string | null) => (
  <td class="value">
    <Json json={json} />
  </td>
);

/** The changes that a message would make. */
export const Differences = ({ label, resources }: DifferencesProps) => (
  <Table
    label={label}
    rows={resources.flatMap(({ elements, ...of }) => elements.map((element) => ({ ...of, ...element })))}
    columns={{
      Resource: ({ reference, change }) => (
        <>
          <code>{reference}</code> {change === 'created' ? <Badge tone="plain">new</Badge> : null}
        </>
      ),
      Element: ({ element }) => element,
      Now: ({ before }) => valueCell(before),
      Then: ({ after }) => valueCell(after),
    }}
  />
);

/** The changes that a message made to a resource, with the fields that state them. */
export const Changed = ({ change: { reference, elements } }: { change: ChangeView }) => (
  <Table
    label={`Changes in ${reference}`}
    rows={elements}
    columns={{
      Element: ({ element, fields }) => (
        <>
          {element} <small class="quiet">{fields.join(', ')}</small>
        </>
      ),
      Before: ({ before }) => valueCell(before),
      After: ({ after }) => valueCell(after),
    }}
  />
);
