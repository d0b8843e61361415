/** Patterns of `like` for literal texts. */

const plain = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** Matches texts that contain the text. */
export const containing = (text: string): string => `%${plain(text)}%`;

/** Matches texts with a line of one arbitrary character and then the text. */
export const containingMarkedLine = (text: string): string => `%\n_${plain(text)}\n%`;

/** A text followed by it sorts after all texts with this beginning. */
export const BEHIND_ALL = '\u{10ffff}';
