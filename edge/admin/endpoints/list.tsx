/** The addresses of the gateway, and its MLLP sidecars. */
import type { SidecarRow } from '../../store/sidecar.ts';
import { Badge, Section, Table, When } from '../web/ui.tsx';
import { type Endpoint, ENDPOINT_TITLES } from './endpoints.ts';

export const Endpoints = ({ endpoints }: { endpoints: readonly Endpoint[] }) => (
  <Section id="endpoints" title="Addresses of the gateway">
    <Table
      label="Addresses of the gateway"
      rows={endpoints}
      columns={{
        Endpoint: ({ name }) => ENDPOINT_TITLES[name],
        Status: ({ status }) =>
          status === 'configured' ? <Badge tone="good">configured</Badge> : <Badge tone="warn">not configured</Badge>,
        Value: ({ value }) => <td class="value">{value ?? ''}</td>,
        Setting: ({ name }) => <code>{name}</code>,
      }}
    />
  </Section>
);

export const Sidecars = ({ sidecars }: { sidecars: readonly SidecarRow[] }) => (
  <Section id="sidecars" title="MLLP sidecars">
    <Table
      label="MLLP sidecars"
      rows={sidecars}
      empty="No sidecar has sent a request in the last seven days."
      columns={{
        Sidecar: ({ issuer }) => <code>{issuer}</code>,
        'Last seen': ({ last_seen }) => <When at={last_seen} relative />,
        'First seen': ({ first_seen }) => <When at={first_seen} />,
      }}
    />
  </Section>
);
