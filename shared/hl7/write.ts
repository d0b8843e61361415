/** Writes values as segments (HL7 v2.5.1 §2.6). Reading the segments returns the same values. */
import { declaresDelimiters, encodingCharacters } from './delimiters.ts';
import { escape, type Syntax } from './escapes.ts';

/** Text, `null` for HL7's `""`, `undefined` or `''` for nothing. */
type Leaf = string | null | undefined;
export type ComponentContent = Leaf | readonly Leaf[];
export type RepetitionContent = Leaf | readonly ComponentContent[];
/** A leaf, or a list of repetitions, each a leaf or a list of components, each a leaf or a list of subcomponents. */
export type FieldContent = Leaf | readonly RepetitionContent[];

/**
 * Writes one segment without its line end, leaving out empty fields at the end.
 *
 * @param fields from field 1 on; for MSH, FHS and BHS from field 3 on, since fields 1 and 2 are the delimiters
 */
export function writeSegment(id: string, fields: readonly FieldContent[], syntax: Syntax): string {
  const { delimiters } = syntax;
  const written = fields.map((field) => writeField(field, syntax));
  const declared = declaresDelimiters(id) ? [encodingCharacters(delimiters)] : [];
  return withoutTail([id, ...declared, ...written].join(delimiters.field), delimiters.field);
}

/** Writes one field with its repetitions, escaped. */
export function writeField(field: FieldContent, syntax: Syntax): string {
  if (!isList(field)) return writeLeaf(field, syntax);
  return field.map((repetition) => writeRepetition(repetition, syntax)).join(syntax.delimiters.repetition);
}

function writeRepetition(repetition: RepetitionContent, syntax: Syntax): string {
  if (!isList(repetition)) return writeLeaf(repetition, syntax);
  const { component } = syntax.delimiters;
  return withoutTail(repetition.map((content) => writeComponent(content, syntax)).join(component), component);
}

function writeComponent(component: ComponentContent, syntax: Syntax): string {
  if (!isList(component)) return writeLeaf(component, syntax);
  const { subcomponent } = syntax.delimiters;
  // Without a subcomponent separator, only the first subcomponent can be written.
  if (subcomponent === '') return writeLeaf(component[0], syntax);
  return withoutTail(component.map((leaf) => writeLeaf(leaf, syntax)).join(subcomponent), subcomponent);
}

function writeLeaf(leaf: Leaf, syntax: Syntax): string {
  return leaf === null ? '""' : escape(leaf ?? '', syntax);
}

function isList<T>(content: Leaf | readonly T[]): content is readonly T[] {
  return Array.isArray(content);
}

/** @param separator a character */
export function withoutTail(text: string, separator: string): string {
  let end = text.length;
  while (text.endsWith(separator, end)) end -= 1;
  return text.slice(0, end);
}
