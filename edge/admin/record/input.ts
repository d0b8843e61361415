/** The kinds of fields that people set members of a record with, and what they show of a value. Texts, no HTML. */

export type Input =
  | {
      readonly kind: 'text';
      readonly type?: 'text' | 'url';
      /** A machine's text: set in type of one width. */
      readonly mono?: boolean;
      readonly required?: boolean;
    }
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  /** One text with commas between the items. */
  | { readonly kind: 'list' }
  /** Any of these. */
  | { readonly kind: 'choices'; readonly values: readonly string[] }
  /** Any of the scopes, by resource type. */
  | { readonly kind: 'scopes' }
  /** Yes or no; `means` says what yes is. */
  | { readonly kind: 'switch'; readonly means: string }
  /** One of these. */
  | { readonly kind: 'one'; readonly options: readonly { readonly value: string; readonly label: string }[] }
  /** One of these, or what `none` says. */
  | { readonly kind: 'select'; readonly values: readonly string[]; readonly none: string }
  /** A text of several lines, printed from the value as it is answered. */
  | { readonly kind: 'lines'; readonly rows: number; readonly print: (value: unknown) => string };

/** What stands in a field, as a browser sends it: one text, of `choices` and `scopes` those that are chosen. */
export function textsOf(input: Input, value: unknown): readonly string[] {
  if (value === null || value === undefined) return [];
  switch (input.kind) {
    case 'text':
    case 'number':
    case 'select':
    case 'one':
      return [textOf(value)];
    case 'switch':
      return [value === true ? YES : NO];
    case 'list':
      return [itemsOf(value).join(', ')];
    case 'choices':
    case 'scopes':
      return itemsOf(value);
    case 'lines':
      return [input.print(value)];
  }
}

/** What a field says, as the schema of its member takes it; an empty number is left out. */
export function valueOf(input: Input, texts: readonly string[]): unknown {
  switch (input.kind) {
    case 'choices':
    case 'scopes':
      return texts;
    case 'number':
      return numberOf(texts[0] ?? '');
    case 'switch':
      // A browser sends nothing for a box that is not ticked.
      return switchOf(texts[0] ?? NO);
    case 'text':
    case 'list':
    case 'select':
    case 'one':
    case 'lines':
      return texts[0] ?? '';
  }
}

/** What a box that is ticked, and a command, say. */
export const YES = 'yes';
export const NO = 'no';

/** True for yes, false for no; any other text is left for the member's schema to refuse. */
export const switchOf = (text: string): boolean | string => (text === YES ? true : text === NO ? false : text);

export const numberOf = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));

const itemsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf) : []);

/** A value that has no other form, as text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
