/** A resource of the site, as an administrator looks at it: a version of it, and the messages that made it. */
import { type Json, printJson } from '../../../shared/json.ts';
import { pretty } from '../../../shared/pretty-json.ts';
import { isResourceType } from '../../../shared/resource-type.ts';
import type { MessageFacts } from '../../store/provenance.ts';
import { parseStored } from '../../store/resource.ts';
import { Code, Fact, Section, Table, When } from '../web/ui.tsx';
import type { ResourceView } from './find-resource.ts';
import { partsOf, pathTo, type Traced } from './lineage.ts';

/** The references to other resources of the site. */
const referencesIn = (text: string): string[] => [
  ...new Set(
    [...text.matchAll(/"([A-Z][A-Za-z]+\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/g)].map(
      ([, found = '']) => found,
    ),
  ),
];

const MAX_REFERENCES = 20;
/** More values are shown without their origins. */
const MAX_ORIGINS = 1000;

interface ResourceProps {
  readonly resource: ResourceView;
  /** The path of the messages. */
  readonly path: string;
  readonly keyPath: string;
}

type OriginProps = Pick<ResourceProps, 'path' | 'keyPath'> & {
  readonly traced: Traced;
  readonly comparedFrom: number;
};

const Message = ({ message, fields, path }: { message: MessageFacts; fields: readonly string[]; path: string }) => (
  <>
    <a href={`${path}/${message.id}`}>
      {message.type} {message.controlId}
    </a>{' '}
    of {[message.application, message.facility].filter((name) => name !== '').join(' ') || 'an unnamed sender'},
    received <When at={message.receivedAt} />
    {fields.length === 0 ? null : `: ${fields.join(', ')}`}
    {message.forgottenAt === null ? null : (
      <>
        . The text of this message was deleted <When at={message.forgottenAt} />.
      </>
    )}
  </>
);

const Author = ({ traced: { version, statedBy, fields }, comparedFrom, path, keyPath }: OriginProps) => {
  if (version === undefined) return <>Version {comparedFrom} or an earlier one. Earlier versions were not compared.</>;
  const { message, person, clientId } = version.facts;
  if (message !== null && statedBy === null) return <Message {...{ message, fields, path }} />;
  if (message !== null && statedBy !== null) {
    return (
      <>
        <Message message={statedBy} {...{ fields, path }} />. It counts since{' '}
        <Message message={message} fields={[]} path={path} />
      </>
    );
  }
  if (person !== null) return <>An undone merge, by {person}</>;
  if (clientId === null) return <>The author is no longer on record.</>;
  return (
    <>
      A FHIR write by the API key <a href={`${keyPath}/${clientId}`}>{version.keyName ?? clientId}</a>
    </>
  );
};

/** A value with its origin: in words on hover, with links where it is pressed. */
const Value = ({ id, json, ...props }: OriginProps & { readonly id: string; readonly json: string }) => {
  const { version, fields, path, replaced, isLong } = props.traced;
  const { message } = version?.facts ?? {};
  const short = [
    `Version ${version?.version ?? `${props.comparedFrom} or earlier`}`,
    ...(message ? [`${message.type} ${message.controlId}`] : []),
    ...fields,
  ].join(', ');
  return (
    <>
      <button type="button" class="value" popovertarget={id} title={short}>
        {json}
      </button>
      <span id={id} popover="auto" class="origin">
        <b>{path}</b>
        {version === undefined ? null : (
          <span>
            Version {version.version}, <When at={version.at} />
          </span>
        )}
        <span>
          <Author {...props} />
        </span>
        {version === undefined ? null : (
          <span>
            Replaced: {replaced === null ? isLong ? 'a value that is too long' : 'nothing' : <code>{replaced}</code>}
          </span>
        )}
      </span>
    </>
  );
};

interface ContentProps extends Pick<OriginProps, 'path' | 'keyPath' | 'comparedFrom'> {
  readonly value: Json;
  readonly at: string;
  readonly line: string;
  readonly origins: ReadonlyMap<string, Traced & { readonly number: number }>;
}

/** Indented JSON, as `pretty` prints it, with the origin of each value. */
const Content = ({ value, at, line, ...props }: ContentProps) => {
  const parts = partsOf(value);
  const traced = props.origins.get(at);
  if (parts === undefined || parts.length === 0) {
    const json = printJson(value);
    return traced === undefined ? <>{json}</> : <Value id={`value-${traced.number}`} {...{ json, traced, ...props }} />;
  }
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return (
    <>
      {open}
      {parts.map(([part, child], place) => (
        <>
          {place === 0 ? '' : ','}
          {`${line}  `}
          {typeof part === 'number' ? '' : `${JSON.stringify(part)}: `}
          <Content value={child} at={pathTo(at, part)} line={`${line}  `} {...props} />
        </>
      ))}
      {line}
      {close}
    </>
  );
};

export const ResourcePage = ({ resource, path, keyPath }: ResourceProps) => {
  const { stored, current, messages, values, comparedFrom } = resource;
  const { type, id, version } = stored;
  const own = `${path}/resources/${type}/${id}`;
  const content = parseStored(stored);
  const json = pretty(printJson(content));
  const origins = new Map(values.slice(0, MAX_ORIGINS).map((traced, number) => [traced.path, { ...traced, number }]));
  const references = referencesIn(json).filter((each) => isResourceType(each.split('/')[0] ?? ''));
  const link = (to: number, title: string) => <a href={`${own}?version=${to}`}>{title}</a>;
  return (
    <>
      <dl class="facts">
        <Fact name="Version">
          {version} of {current} {version > 1 ? link(version - 1, 'the one before') : null}{' '}
          {version < current ? link(version + 1, 'the next') : null}{' '}
          {version < current ? <a href={own}>the current one</a> : null}
        </Fact>
        <Fact name="Written">
          <When at={stored.last_updated} />
        </Fact>
        {references.length === 0 ? null : (
          <Fact name="Refers to">
            <ul class="plain">
              {references.slice(0, MAX_REFERENCES).map((reference) => (
                <li>
                  <a href={`${path}/resources/${reference}`}>{reference}</a>
                </li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
      <Section id="content" title="Content">
        <p class="quiet">Point at a value to see its origin. Press the value for the link to its message.</p>
        <Code text={json} label="The resource" copy>
          <Content value={content} at="" line={'\n'} {...{ origins, path, keyPath, comparedFrom }} />
        </Code>
      </Section>
      <Section id="messages" title="Messages that wrote a version">
        <Table
          label="Messages"
          rows={messages}
          empty="None: a FHIR client wrote it."
          columns={{
            Received: (message) => (
              <a href={`${path}/${message.message_id}`}>
                <When at={message.received_at} />
              </a>
            ),
            Type: (message) => message.message_type,
            'Control id': (message) => (
              <td class="ids">
                <code>{message.control_id}</code>
              </td>
            ),
            Version: (message) => message.version,
          }}
        />
      </Section>
    </>
  );
};
