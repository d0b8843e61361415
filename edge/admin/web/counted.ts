/** How many there are of something, in words: `1 token`, `1,200 tokens`; @param many of which words do not take an s */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
