/** The question before a name gets its URI, with what this would touch. */
import { MAX_COUNT } from '../../store/admin-unmapped-name.ts';
import type { UnmappedName } from '../../store/unmapped-name.ts';
import { counted } from '../web/counted.ts';
import { Fact, OfSite, Section } from '../web/ui.tsx';
import { KINDS } from './list.tsx';
import type { NamingPreview } from './naming.ts';
import { toParameter } from './parameter.ts';

interface NamingQuestionProps {
  readonly named: UnmappedName;
  readonly system: string;
  readonly preview: NamingPreview;
  readonly path: string;
  readonly messagePath: string;
}

const upTo = (count: number, one: string): string =>
  count >= MAX_COUNT ? `${MAX_COUNT.toLocaleString('en')} or more ${one}s` : counted(count, one);

const have = (count: number, one: string): string => `${upTo(count, one)} ${count === 1 ? 'has' : 'have'}`;

const OfAuthority = ({ named: { name }, preview: { patients, pairs } }: NamingQuestionProps) => (
  <>
    <li>
      {patients === 0
        ? `No patient record has an identifier of ${name}.`
        : `${have(patients, 'patient record')} an identifier of ${name}. The URI finds them too.`}
    </li>
    <li>
      {pairs === 0
        ? 'No two patient records get a common identifier by it.'
        : `${upTo(pairs, 'pair')} of patient records ${pairs === 1 ? 'gets' : 'get'} a common identifier by it. They will be listed as possible duplicates. The gateway merges none of them.`}
    </li>
  </>
);

export const NamingQuestion = (props: NamingQuestionProps) => {
  const { named, system, preview, path, messagePath } = props;
  const { messages, others } = preview;
  return (
    <>
      <dl class="facts">
        <Fact name="Name">
          <code>{named.name}</code>
        </Fact>
        <Fact name="Kind">{KINDS[named.kind]}</Fact>
        <Fact name="URI">
          <code>{system}</code>
        </Fact>
      </dl>
      <Section id="touched" title="Messages and records that it touches">
        <p>The URI applies from the next message on.</p>
        <ul>
          {others.length === 0 ? null : (
            <li>
              <strong>
                {others.join(', ')} {others.length === 1 ? 'has' : 'have'} this URI already.
              </strong>{' '}
              Equal {named.kind === 'authority' ? 'identifiers' : 'codes'} of these names and of {named.name} will mean
              the same.
            </li>
          )}
          <li>
            <a href={`${messagePath}?${new URLSearchParams({ unmapped: toParameter(named) }).toString()}`}>
              {upTo(messages, 'message')}
            </a>{' '}
            {messages === 1 ? 'has' : 'have'} the name. Their data stays as it is until you replay them.
          </li>
          {named.kind === 'authority' ? <OfAuthority {...props} /> : null}
        </ul>
        <p>
          {named.kind === 'authority'
            ? 'Check the URI. With a wrong URI, later messages find the wrong patient record or create another one.'
            : 'Check the URI. With a wrong URI, clients do not find the codes, or confuse them with others.'}
        </p>
        <form class="actions" method="post" action={path}>
          <OfSite />
          <input type="hidden" name="kind" value={named.kind} />
          <input type="hidden" name="name" value={named.name} />
          <input type="hidden" name="system" value={system} />
          <input type="hidden" name="confirmed" value="yes" />
          <button>Give {named.name} this URI</button>
          <a class="button secondary" href={path}>
            Back
          </a>
        </form>
      </Section>
    </>
  );
};
