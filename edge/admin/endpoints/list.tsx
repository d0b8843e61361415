/** The addresses of the gateway, and its MLLP sidecars. */
import type { SidecarRow } from '../../store/sidecar.ts';
import { Badge, Empty, Row, Table, When } from '../web/ui.tsx';
import { type Endpoint, ENDPOINT_TITLES } from './endpoints.ts';

export const Endpoints = ({ endpoints }: { endpoints: readonly Endpoint[] }) => (
  <section aria-labelledby="endpoints">
    <h2 id="endpoints">Addresses of the gateway</h2>
    <Table label="Addresses of the gateway" head={['Endpoint', 'Status', 'Value', 'Setting']}>
      {endpoints.map(({ name, status, value }) => (
        <Row>
          <th scope="row">{ENDPOINT_TITLES[name]}</th>
          <td>
            {status === 'configured' ? (
              <Badge tone="good">configured</Badge>
            ) : (
              <Badge tone="warn">not configured</Badge>
            )}
          </td>
          <td class="value">{value ?? ''}</td>
          <td>
            <code>{name}</code>
          </td>
        </Row>
      ))}
    </Table>
  </section>
);

export const Sidecars = ({ sidecars }: { sidecars: readonly SidecarRow[] }) => (
  <section aria-labelledby="sidecars">
    <h2 id="sidecars">MLLP sidecars</h2>
    {sidecars.length === 0 ? (
      <Empty>No sidecar has sent a request in the last seven days.</Empty>
    ) : (
      <Table label="MLLP sidecars" head={['Sidecar', 'Last seen', 'First seen']}>
        {sidecars.map(({ issuer, last_seen, first_seen }) => (
          <Row>
            <th scope="row">
              <code>{issuer}</code>
            </th>
            <td>
              <When at={last_seen} relative />
            </td>
            <td>
              <When at={first_seen} />
            </td>
          </Row>
        ))}
      </Table>
    )}
  </section>
);
