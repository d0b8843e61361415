/** The items under each of their names, in order. */
export function indexBy<T>(items: Iterable<T>, namesOf: (item: T) => readonly string[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    for (const name of namesOf(item)) {
      const list = found.get(name) ?? [];
      found.set(name, list);
      list.push(item);
    }
  }
  return found;
}
