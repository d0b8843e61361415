/** The form of a new subscription. */
import type { Fault } from '../../../shared/fault.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { SubscribingKeyRow } from '../../store/admin-subscription.ts';
import { PAYLOADS } from '../../store/subscription.ts';
import { Lines, SelectField, Text } from '../web/fields.tsx';
import { errorsByField } from '../web/form.ts';
import { Empty, Notice } from '../web/ui.tsx';

interface NewSubscriptionProps {
  readonly keys: readonly SubscribingKeyRow[];
  readonly types: readonly ResourceType[];
  readonly texts: Readonly<Record<string, string>>;
  /** The reason why it was not saved. */
  readonly fault?: Fault | undefined;
  readonly path: string;
}

export const NewSubscription = ({ keys, types, texts, fault, path }: NewSubscriptionProps) => {
  const errors = fault === undefined ? new Map<string, readonly string[]>() : errorsByField(fault);
  const of = (name: string, first = '') => ({ name, errors, value: texts[name] || first });
  if (keys.length === 0)
    return (
      <Empty>No active API key with the protocol fhir has subscription hosts. Add them to the API key first.</Empty>
    );
  return (
    <form method="post" action={path}>
      {fault === undefined ? null : <Notice tone="bad">Not saved: {fault.message}.</Notice>}
      <SelectField
        {...of('clientId', keys[0]?.client_id)}
        label="API key"
        hint="The client sees the subscription as its own."
        options={keys.map(({ client_id: value, name }) => ({ value, label: name }))}
      />
      <SelectField
        {...of('type', types[0])}
        label="Resource type"
        hint="The API key needs the scope to read it."
        options={types.map((value) => ({ value, label: value }))}
      />
      <Text
        {...of('filter')}
        label="Filter"
        hint="A search without its type, such as code=8867-4. Empty: each change of the type."
        mono
      />
      <Text {...of('endpoint')} label="Address" hint="https, at one of the subscription hosts of the API key." mono />
      <Lines
        {...of('headers')}
        label="Headers"
        hint="Those that the receiver asks for, one a line, such as X-API-Key: value. They are never shown again."
        rows={2}
      />
      <SelectField
        {...of('payload', PAYLOADS[0])}
        label="Payload"
        hint="full-resource sends patient data."
        options={PAYLOADS.map((value) => ({ value, label: value }))}
      />
      <Text {...of('reason')} label="Reason" hint="The purpose of the subscription." />
      <Text
        {...of('heartbeatSeconds')}
        label="Heartbeat in seconds"
        hint="A notification without events after so long. Empty: none."
        type="number"
      />
      <Text {...of('since')} label="Start" hint="The transactionTime of an export. Empty: now." mono />
      <div class="actions">
        <button>Create subscription</button>
      </div>
    </form>
  );
};
