/** How many there are of something, in words: `1 token`, `1,200 tokens`. */
export const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
