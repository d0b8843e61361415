/** The changes of resources, element by element. */
import { pretty } from '../../../shared/pretty-json.ts';
import type { ResourceDifference } from './message-replay.ts';
import type { ChangeView } from './view.ts';
import { Badge, Row, Table } from '../web/ui.tsx';

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

/** Cells of a row. `Row` gives each cell the name of its column, so this is not a component. */
const valueCells = ({ before, after }: { before: string | null; after: string | null }) => [
  <td class="value">
    <Json json={before} />
  </td>,
  <td class="value">
    <Json json={after} />
  </td>,
];

/** The changes that a message would make. */
export const Differences = ({ label, resources }: DifferencesProps) => (
  <Table label={label} head={['Resource', 'Element', 'Now', 'Then']}>
    {resources.flatMap(({ reference, change, elements }) =>
      elements.map(({ element, before, after }) => (
        <Row>
          <th scope="row">
            <code>{reference}</code> {change === 'created' ? <Badge tone="plain">new</Badge> : null}
          </th>
          <td>{element}</td>
          {valueCells({ before, after })}
        </Row>
      )),
    )}
  </Table>
);

/** The changes that a message made to a resource, with the fields that state them. */
export const Changed = ({ change: { reference, elements } }: { change: ChangeView }) => (
  <Table label={`Changes in ${reference}`} head={['Element', 'Before', 'After']}>
    {elements.map(({ element, fields, before, after }) => (
      <Row>
        <th scope="row">
          {element} <small class="quiet">{fields.join(', ')}</small>
        </th>
        {valueCells({ before, after })}
      </Row>
    ))}
  </Table>
);
