/** A URL or path without the slashes at its end. */
export const withoutFinalSlashes = (text: string): string => text.replace(/(?<!\/)\/+$/, '');
