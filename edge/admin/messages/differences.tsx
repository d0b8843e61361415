/** The changes of resources, element by element. */
import { pretty } from '../../../shared/pretty-json.ts';
import type { ResourceDifference } from './message-replay.ts';
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
  /** It has been done, to the one resource that the table is about. */
  readonly isDone?: boolean;
}

export const Differences = ({ label, resources, isDone = false }: DifferencesProps) => (
  <Table label={label} head={isDone ? ['Element', 'Before', 'After'] : ['Resource', 'Element', 'Now', 'Then']}>
    {resources.flatMap(({ reference, change, elements }) =>
      elements.map(({ element, before, after }) => {
        const values = [
          <td class="value">
            <Json json={before} />
          </td>,
          <td class="value">
            <Json json={after} />
          </td>,
        ];
        return isDone ? (
          <Row>
            <th scope="row">{element}</th>
            {values}
          </Row>
        ) : (
          <Row>
            <th scope="row">
              <code>{reference}</code> {change === 'created' ? <Badge tone="plain">new</Badge> : null}
            </th>
            <td>{element}</td>
            {values}
          </Row>
        );
      }),
    )}
  </Table>
);
