/** The verbs of rules that change a message, each compiled to a function. */
import { componentName, fieldType } from '../../../shared/hl7/field-types.ts';
import { parseRulePath, type RulePath } from '../../../shared/hl7/rule-path.ts';
import { NULL } from '../../../shared/hl7/value.ts';
import type { SenderRule } from '../../members/sender-rules.ts';
import { compileDateFormat } from '../../members/sender-rules/date-format.ts';
import { mustKeepValue } from '../../members/sender-rules/targets.ts';
import type { EditedMessage, Line } from './edited-message.ts';
import { isRetraction, ordersOf } from './retraction.ts';
import { rewrite, type FieldPath } from './rewrite.ts';
import { hasValue, repetitionsOf, selectedLines, selectsRepetition, textOf } from './selection.ts';
import { copiedValue, sourcesOf } from './source.ts';
import { joinPieces, splitText, trimmed, withComponentAuthority, withEntityAuthority, writer } from './texts.ts';

/** @param number the number of the rule, from 1 */
export type Edit = (edited: EditedMessage, number: number) => void;

/** The rules that change a message. */
export type EditRule = Exclude<SenderRule, { readonly verb: 'ignore' | 'reject' }>;
type Of<Verb extends SenderRule['verb']> = Extract<SenderRule, { readonly verb: Verb }>;

export function editOf(rule: EditRule): Edit {
  switch (rule.verb) {
    case 'set':
      return setValue(rule);
    case 'default':
      return setDefault(rule);
    case 'copy':
      return copyValue(rule);
    case 'clear':
      return (edited, number) => rewrite(edited, fieldPath(rule.path), number, 'field', false, () => '');
    case 'drop':
      return drop(rule);
    case 'map':
      return mapText(rule);
    case 'split':
      return split(rule);
    case 'join':
      return join(rule);
    case 'trim':
      return trim(rule);
    case 'date':
      return readDate(rule);
    case 'authority':
      return setAuthority(rule);
  }
}

/** @throws Error for a path that the schema rejects */
export function rulePath(text: string): RulePath {
  const path = parseRulePath(text);
  if (typeof path === 'string') throw new Error(path);
  return path;
}

function fieldPath(text: string): FieldPath {
  const { field, ...path } = rulePath(text);
  if (field === undefined) throw new Error(`${text} has no field`);
  return { ...path, field };
}

/** A path to one text in each repetition. */
const textPath = (text: string): FieldPath => {
  const path = fieldPath(text);
  return { ...path, component: path.component ?? 1, subcomponent: path.subcomponent ?? 1 };
};

function setValue({ path: text, value }: Of<'set'>): Edit {
  const path = fieldPath(text);
  const write = writer(value);
  return (edited, number) => {
    const written = write(edited.message);
    rewrite(edited, path, number, 'field', false, () => written);
  };
}

function setDefault({ path: text, value }: Of<'default'>): Edit {
  const path = fieldPath(text);
  const write = writer(value);
  return (edited, number) => {
    const { message } = edited;
    rewrite(edited, path, number, 'field', false, (raw) => (hasValue(raw, message) ? raw : write(message)));
  };
}

function copyValue({ from: source, path: text }: Of<'copy'>): Edit {
  const [from, path] = [fieldPath(source), fieldPath(text)];
  const isKept = mustKeepValue(path);
  return (edited, number) => {
    const { message } = edited;
    const header = from.segment === 'MSH' ? edited.named('MSH')[0] : undefined;
    const isSame = from.segment === path.segment;
    const sources =
      header === undefined && !isSame && edited.named(path.segment).length > 0 ? sourcesOf(edited, from) : [];
    rewrite(edited, path, number, 'field', false, (raw, line) => {
      const source = header ?? (isSame ? line : sources[line.segment.index]);
      const copied = source === undefined ? '' : copiedValue(edited, source, from, path);
      const isAbsent = !hasValue(copied, message) || edited.hasDocument(copied) || (isKept && copied === NULL);
      return isAbsent ? raw : copied;
    });
  };
}

function drop({ path: text }: Of<'drop'>): Edit {
  const path = rulePath(text);
  const { field } = path;
  return field === undefined ? dropSegments(path) : dropRepetitions({ ...path, field });
}

/** The notes behind a dropped segment are dropped with it: they would become notes of the segment before it. */
function dropSegments(path: RulePath): Edit {
  return (edited, number) => {
    const selected = selectedLines(edited, path);
    const orders = selected.length > 0 && path.segment === 'OBX' ? ordersOf(edited) : [];
    for (const line of selected) {
      if (line.isDropped || isRetraction(edited, line, orders)) continue;
      edited.drop(line, number);
      // A note behind PD1 is one of the patient, as it is behind PID.
      if (line.segment.id !== 'NTE' && line.segment.id !== 'PD1') dropNotes(edited, line, number);
    }
  };
}

function dropNotes(edited: EditedMessage, { segment }: Line, number: number): void {
  for (let at = segment.index + 1; at < edited.lines.length; at += 1) {
    const line = edited.lines[at];
    if (line?.segment.id !== 'NTE') return;
    edited.spend(1);
    if (!line.isDropped) edited.drop(line, number);
  }
}

/** An identifier is never dropped if no other one would be left. */
function dropRepetitions(path: FieldPath): Edit {
  const isKept = mustKeepValue(path);
  return (edited, number) => {
    const { message } = edited;
    for (const line of selectedLines(edited, path)) {
      const all = repetitionsOf(edited, line, path.field);
      const isLeft = (raw: string, at: number): boolean =>
        edited.hasDocument(raw) || !selectsRepetition(raw, at + 1, path.repetitions, message);
      const left = all.flatMap((raw, at) => (isLeft(raw, at) ? [at] : []));
      const kept = left.map((at) => all[at] ?? '');
      if (left.length === all.length || (isKept && !kept.some((raw) => raw !== NULL && hasValue(raw, message))))
        continue;
      const sent = edited.movedOf(line, path.field);
      const moved = sent === null ? null : left.map((at) => sent?.[at] ?? at + 1);
      edited.write(line, path.field, kept.join(message.delimiters.repetition), number, moved);
    }
  };
}

function mapText({ path: text, values, otherwise }: Of<'map'>): Edit {
  const path = textPath(text);
  const table = new Map(Object.entries(values).map(([from, to]) => [from, writer(to)]));
  return (edited, number) => {
    const { message } = edited;
    rewrite(edited, path, number, 'repetition', false, (raw) => {
      if (!hasValue(raw, message)) return raw;
      const write = table.get(textOf(raw, message));
      if (write !== undefined) return write(message);
      return otherwise === 'clear' && raw !== NULL ? '' : raw;
    });
  };
}

function split({ path: text, by, into }: Of<'split'>): Edit {
  const path = fieldPath(text);
  const role = { repetitions: 'repetition', components: 'component', subcomponents: 'subcomponent' } as const;
  return (edited, number) => {
    const { message } = edited;
    const separator = message.delimiters[role[into]];
    rewrite(edited, path, number, 'repetition', true, (raw) => splitText(raw, by, separator, message));
  };
}

function join({ path: text, by }: Of<'join'>): Edit {
  const path = fieldPath(text);
  return (edited, number) => {
    const { message } = edited;
    const { component, subcomponent } = message.delimiters;
    const separator = path.component === undefined ? component : subcomponent;
    rewrite(edited, path, number, 'repetition', true, (raw) => joinPieces(raw, by, separator, message));
  };
}

function trim({ path: text }: Of<'trim'>): Edit {
  const path = fieldPath(text);
  const isComposite = componentName(fieldType(path.segment, path.field, ''), 1) !== null;
  return (edited, number) => {
    rewrite(edited, path, number, 'repetition', false, (raw) => trimmed(raw, isComposite, edited.message));
  };
}

function readDate({ path: text, format }: Of<'date'>): Edit {
  const path = textPath(text);
  const read = compileDateFormat(format);
  return (edited, number) => {
    const { message } = edited;
    rewrite(edited, path, number, 'repetition', false, (raw) => read(textOf(raw, message)) ?? raw);
  };
}

/** The component of the authority, by the type of the field. */
const AUTHORITY_COMPONENTS: ReadonlyMap<string, number> = new Map([
  ['CX', 4],
  ['XCN', 9],
  ['XON', 6],
]);

function setAuthority({ path: text, namespace, universalId, universalIdType, replaces }: Of<'authority'>): Edit {
  const path = fieldPath(text);
  const type = fieldType(path.segment, path.field, '') ?? '';
  const component = AUTHORITY_COMPONENTS.get(type);
  const [name, id, idType] = [namespace, universalId ?? '', universalIdType ?? ''].map(writer);
  return (edited, number) => {
    const { message } = edited;
    const { delimiters } = message;
    const written = (write: ReturnType<typeof writer> | undefined): string => write?.(message) ?? '';
    const authority = {
      namespace: written(name),
      universalId: written(id),
      universalIdType: written(idType),
      replaces,
    };
    const separator = type === 'EIP' ? delimiters.subcomponent : delimiters.component;
    rewrite(edited, path, number, 'repetition', false, (raw) =>
      component === undefined
        ? withEntityAuthority(raw, separator, authority, message)
        : withComponentAuthority(raw, component, authority, message),
    );
  };
}
