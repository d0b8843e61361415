/** The fields of a record's form and the facts of its page, by each member's kind of input. */
import type { Child } from 'hono/jsx';

import { isStored, type ResourceType } from '../../../shared/resource-type.ts';
import { Choices, FieldBox, Fieldset, type FieldErrors, Lines, SelectField, Switch, Text } from '../web/fields.tsx';
import { Badge, Fact, Section } from '../web/ui.tsx';
import { textOf, textsOf, YES } from '../../members/input.ts';
import type { Member, Members } from '../../members/member.ts';
import type { FieldTexts } from '../../members/texts.ts';

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly errors: FieldErrors;
}

interface ScopesProps extends FieldProps {
  readonly chosen: readonly string[];
  readonly types: readonly ResourceType[];
}

/** Checkboxes for read and write of each resource type. */
const Scopes = ({ chosen, types, ...props }: ScopesProps) => (
  <Fieldset {...props}>
    <div class="scopes">
      {types.map((type, row) => (
        <div class="scope">
          <span aria-hidden="true">{type}</span>
          {(isStored(type) ? ['read', 'write'] : ['read']).map((access, column) => (
            <label class="choice">
              <FieldBox
                name={props.name}
                value={`system/${type}.${access}`}
                isOn={chosen.includes(`system/${type}.${access}`)}
                isFirst={row === 0 && column === 0}
                errors={props.errors}
              />
              <span>
                <span class="hidden">system/{type}.</span>
                {access}
              </span>
            </label>
          ))}
        </div>
      ))}
    </div>
  </Fieldset>
);

interface MemberProps {
  readonly name: string;
  readonly member: Member;
  readonly texts: FieldTexts;
  readonly errors: FieldErrors;
  readonly types: readonly ResourceType[];
}

const Field = ({ member, texts, types, ...at }: MemberProps) => {
  const { input, label, hint } = member;
  const props = { ...at, label, hint };
  const chosen = texts[at.name] ?? [];
  const value = chosen[0] ?? '';
  switch (input?.kind) {
    case undefined:
      return null;
    case 'text': {
      const required = input.required === true ? { required: '' } : {};
      const attributes = { autocomplete: 'off', ...required };
      return (
        <Text {...props} value={value} type={input.type ?? 'text'} mono={input.mono ?? false} {...{ attributes }} />
      );
    }
    case 'number': {
      const attributes = { min: String(input.min), max: String(input.max), required: '' };
      return <Text {...props} value={value} type="number" {...{ attributes }} />;
    }
    case 'list':
      return <Text {...props} value={value} mono attributes={{ autocomplete: 'off' }} />;
    case 'choices':
      return <Choices {...props} values={input.values} chosen={chosen} />;
    case 'scopes':
      return <Scopes {...props} {...{ chosen, types }} />;
    case 'select':
      return (
        <SelectField
          {...props}
          value={value}
          options={[{ value: '', label: input.none }, ...input.values.map((known) => ({ value: known, label: known }))]}
        />
      );
    case 'one':
      return <SelectField {...props} value={value} options={input.options} />;
    case 'switch':
      return <Switch {...props} yes={input.yes} value={YES} isOn={value === YES} />;
    case 'lines':
      return <Lines {...props} value={value} rows={input.rows} />;
  }
};

export interface Section {
  readonly name: string;
  readonly title?: string;
  readonly lead?: string;
}

interface SectionsProps {
  readonly members: Members;
  readonly sections: readonly Section[];
  readonly texts: FieldTexts;
  readonly errors: FieldErrors;
  /** The types of scopes. */
  readonly types: readonly ResourceType[];
  readonly folds?: ReadonlyMap<string, Fold> | undefined;
  /** Content below a field, by the field's name. */
  readonly below?: Readonly<Record<string, Child>> | undefined;
}

/** A section that can be closed, because many records do not need it. */
export interface Fold {
  readonly isOpen: boolean;
  /** Choosing one of these values in the form opens the section (assets/keys.js). */
  readonly opensFor: readonly string[];
}

const membersIn = (members: Members, section: string): [string, Member][] =>
  Object.entries(members).filter(([, member]) => member.section === section);

/** The fields in the order of the form. */
export const fieldsInOrder = (members: Members, sections: readonly Section[]): string[] =>
  sections.flatMap(({ name }) => membersIn(members, name).map(([field]) => field));

/** The fields by section; a section without a title has no frame. */
export const RecordFields = ({ members, sections, texts, errors, types, folds, below }: SectionsProps) => (
  <>
    {sections.map(({ name: section, title, lead }) => {
      const fields = membersIn(members, section).map(([name, member]) => (
        <>
          <Field {...{ name, member, texts, errors, types }} />
          {below?.[name]}
        </>
      ));
      if (title === undefined) return fields;
      const fold = folds?.get(section);
      if (fold !== undefined) {
        // An error is never hidden.
        const isOpen = fold.isOpen || membersIn(members, section).some(([name]) => errors.has(name));
        return (
          <details class="fold" open={isOpen} data-opens-for={fold.opensFor.join(' ')}>
            <summary>
              <h2>{title}</h2>
            </summary>
            {lead === undefined ? null : <p class="quiet">{lead}</p>}
            {fields}
          </details>
        );
      }
      return (
        <Section id={`${section}-title`} title={title}>
          {lead === undefined ? null : <p class="quiet">{lead}</p>}
          {fields}
        </Section>
      );
    })}
  </>
);

/** Scopes by resource type: `Patient read, write`. */
const ScopeList = ({ scopes }: { scopes: readonly string[] }) => {
  const byType = Map.groupBy(scopes, (scope) => scope.slice(scope.indexOf('/') + 1, scope.indexOf('.')));
  return (
    <ul class="plain">
      {[...byType].map(([type, named]) => (
        <li>
          {type} <span class="quiet">{named.map((scope) => scope.slice(scope.indexOf('.') + 1)).join(', ')}</span>
        </li>
      ))}
    </ul>
  );
};

function shown({ input, none = 'none' }: Member, value: unknown): Child {
  const texts = input === undefined ? [] : textsOf(input, value).filter((text) => text !== '');
  // A key without scopes gets no token, so the page warns.
  if (texts.length === 0)
    return input?.kind === 'scopes' ? <Badge tone="warn">{none}</Badge> : <span class="quiet">{none}</span>;
  if (input?.kind === 'scopes') return <ScopeList scopes={texts} />;
  if (input?.kind === 'one') return input.options.find((option) => option.value === texts[0])?.label ?? texts[0];
  return input?.kind === 'lines' ? <span class="lines">{texts.join('\n')}</span> : texts.join(', ');
}

/** The values of members as facts of a page. @param record as the API answers it */
export const RecordFacts = ({
  members,
  sections,
  record,
}: {
  members: Members;
  sections: readonly Section[];
  record: Readonly<Record<string, unknown>>;
}) => (
  <>
    {sections
      .flatMap(({ name }) => membersIn(members, name))
      .map(([name, member]) => (
        <Fact name={member.label}>{shown(member, record[name])}</Fact>
      ))}
  </>
);

/** The value of a changed member as text. @param value as the API answers it */
export function textOfMember(member: Member | undefined, value: unknown): string {
  const text = member?.input === undefined ? textOf(value ?? '') : textsOf(member.input, value).join(', ');
  return text === '' ? 'none' : text;
}
