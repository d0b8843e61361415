/** The kinds of form fields for members of a record, and the conversion between values and the fields' texts. */

export type Input =
  | {
      readonly kind: 'text';
      readonly type?: 'text' | 'url';
      /** Shown in monospace. */
      readonly mono?: boolean;
      readonly required?: boolean;
    }
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  /** One text with commas between the items. */
  | { readonly kind: 'list' }
  /** Any of the values. */
  | { readonly kind: 'choices'; readonly values: readonly string[] }
  /** Any scopes, by resource type. */
  | { readonly kind: 'scopes' }
  /** Yes or no; `yes` is the meaning of yes. */
  | { readonly kind: 'switch'; readonly yes: string }
  /** One of the options. */
  | { readonly kind: 'one'; readonly options: readonly { readonly value: string; readonly label: string }[] }
  /** One of the values, or none, shown as the text `none`. */
  | { readonly kind: 'select'; readonly values: readonly string[]; readonly none: string }
  /** A text of several lines, printed from the value that the API answers. */
  | { readonly kind: 'lines'; readonly rows: number; readonly print: (value: unknown) => string };

/** The texts of a field as a browser sends them: one, or the chosen ones of `choices` and `scopes`. */
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

/** The value of a field for the schema of its member; undefined for a number that was left out. */
export function valueOf(input: Input, texts: readonly string[]): unknown {
  switch (input.kind) {
    case 'choices':
    case 'scopes':
      return texts;
    case 'number':
      return texts[0] === undefined ? undefined : numberOf(texts[0]);
    case 'switch':
      // A browser sends nothing for an empty checkbox.
      return switchOf(texts[0] ?? NO);
    case 'text':
    case 'list':
    case 'select':
    case 'one':
    case 'lines':
      return texts[0] ?? '';
  }
}

/** The texts of a checkbox and of a command's option. */
export const YES = 'yes';
const NO = 'no';

/** True for yes, false for no; any other text unchanged, so that the member's schema rejects it. */
export const switchOf = (text: string): boolean | string => ([YES, NO].includes(text) ? text === YES : text);

/** Null for an empty text, so that the schema rejects it. */
export const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));

const itemsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf) : []);

/** Any value as text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
