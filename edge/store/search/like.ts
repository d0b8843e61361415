/** Patterns of `like` for texts in which every character is a plain one. */

const plain = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** Matches what contains the text. */
export const containing = (text: string): string => `%${plain(text)}%`;

/** Matches what contains a line that is any one character and then the text. */
export const containingMarkedLine = (text: string): string => `%\n_${plain(text)}\n%`;

/** Behind a text: comes after every text that begins with it. */
export const BEHIND_ALL = '\u{10ffff}';
