/** A count with its noun: `1 token`, `1,200 tokens`. @param many the plural where it is not `one` with an s */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
